package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/mark3labs/mcp-go/mcp"

	"replan/internal/english"
)

// written is one server in a configuration file: the keys of the convention, and
// those that other programs write for the same.
type written struct {
	Type     string            `json:"type"`
	Command  program           `json:"command"`
	Args     []string          `json:"args"`
	Env      map[string]string `json:"env"`
	Environ  map[string]string `json:"environment"` // opencode
	Dir      string            `json:"cwd"`
	Inherit  []string          `json:"inherit"`
	EnvVars  []envVar          `json:"env_vars"` // Codex
	Disabled bool              `json:"disabled"`
	Enabled  *bool             `json:"enabled"` // opencode, Codex

	URL         string            `json:"url"`
	HTTPURL     string            `json:"httpUrl"`   // Gemini
	ServerURL   string            `json:"serverUrl"` // Windsurf
	Headers     map[string]string `json:"headers"`
	HTTPHeaders map[string]string `json:"http_headers"`     // Codex
	EnvHeaders  map[string]string `json:"env_http_headers"` // Codex: names of variables
	Bearer      string            `json:"bearer_token_env_var"`
	Helper      string            `json:"headersHelper"`
	OAuth       oauthOrOff        `json:"oauth"`
	Scopes      []string          `json:"scopes"` // Codex

	IncludeTools  []string `json:"includeTools"`
	ExcludeTools  []string `json:"excludeTools"`
	DisabledTools []string `json:"disabledTools"`  // Windsurf
	EnabledTools  []string `json:"enabled_tools"`  // Codex
	DeniedTools   []string `json:"disabled_tools"` // Codex
	Tools         perTool  `json:"tools"`

	Timeout        any      `json:"timeout"`
	StartTimeout   any      `json:"startup_timeout"`
	StartTimeoutS  *float64 `json:"startup_timeout_sec"` // Codex
	StartTimeoutMS *float64 `json:"startup_timeout_ms"`  // Codex
	ToolTimeoutS   *float64 `json:"tool_timeout_sec"`    // Codex
	Required       bool     `json:"required"`
	Trust          bool     `json:"trust"`
	Parallel       bool     `json:"parallel"`
	Roots          *bool    `json:"roots"`
	Protocol       string   `json:"protocol"`
}

// texts is a text, or a list of texts.
type texts []string

// UnmarshalJSON reads a text or a list of texts.
func (t *texts) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '[' {
		return json.Unmarshal(data, (*[]string)(t))
	}
	var one string
	if err := json.Unmarshal(data, &one); err != nil {
		return err
	}
	if *t = nil; one != "" {
		*t = texts{one}
	}
	return nil
}

// program is a program: its name, opencode's list of the name and the arguments, or Zed's
// object of both.
type program struct {
	words texts
	env   map[string]string
}

// UnmarshalJSON reads a program in any of its forms.
func (p *program) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '{' {
		return json.Unmarshal(data, &p.words)
	}
	var of struct {
		Path string            `json:"path"`
		Args []string          `json:"args"`
		Env  map[string]string `json:"env"`
	}
	err := json.Unmarshal(data, &of)
	if p.words, p.env = nil, of.Env; of.Path != "" {
		p.words = append(texts{of.Path}, of.Args...)
	}
	return err
}

// envVar is the name of a variable, or an object with one.
type envVar string

// UnmarshalJSON reads the name of a variable.
func (v *envVar) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		var of struct {
			Name string `json:"name"`
		}
		err := json.Unmarshal(data, &of)
		*v = envVar(of.Name)
		return err
	}
	return json.Unmarshal(data, (*string)(v))
}

// oauthOrOff is how to log in, or false for never.
type oauthOrOff struct{ *OAuth }

// UnmarshalJSON reads the settings in the spelling of Claude Code, Gemini and opencode.
func (o *oauthOrOff) UnmarshalJSON(data []byte) error {
	if string(data) == "false" || string(data) == "true" || string(data) == "null" {
		return nil
	}
	var of struct {
		ClientID     string `json:"clientId"`
		ClientID2    string `json:"client_id"`
		Secret       string `json:"clientSecret"`
		Secret2      string `json:"client_secret"`
		Metadata     string `json:"clientMetadataUrl"`
		Metadata2    string `json:"client_metadata_url"`
		CallbackPort int    `json:"callbackPort"`
		Callback2    int    `json:"callback_port"`
		Scopes       texts  `json:"scopes"`
		Scope        texts  `json:"scope"`
	}
	if err := json.Unmarshal(data, &of); err != nil {
		return err
	}
	o.OAuth = &OAuth{
		ClientID: cmp.Or(of.ClientID, of.ClientID2), ClientSecret: cmp.Or(of.Secret, of.Secret2),
		ClientMetadata: cmp.Or(of.Metadata, of.Metadata2), CallbackPort: cmp.Or(of.CallbackPort, of.Callback2),
	}
	for _, list := range append(of.Scopes, of.Scope...) {
		o.Scopes = append(o.Scopes, strings.Fields(list)...) // Claude Code writes them into one text
	}
	if o.CallbackPort < 0 || o.CallbackPort > 65535 {
		return fmt.Errorf(`"oauth" has the port %d; write one from 1 to 65535`, o.CallbackPort)
	}
	if address, err := url.Parse(o.ClientMetadata); o.ClientMetadata != "" && (err != nil || address.Scheme != "https" || strings.Trim(address.Path, "/") == "") {
		return errors.New(`"oauth" has a "clientMetadataUrl" that is no https address with a path`)
	}
	return nil
}

// perTool is a list of patterns, or an object: pattern → on, or Codex's settings
// for single tools, which are about approval.
type perTool struct {
	include, exclude []string
	settings         bool
}

// UnmarshalJSON reads which tools are on.
func (p *perTool) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '[' {
		return json.Unmarshal(data, &p.include)
	}
	var of map[string]any
	if err := json.Unmarshal(data, &of); err != nil {
		return err
	}
	p.include, p.exclude = nil, nil
	for name, value := range of {
		switch on, ok := value.(bool); {
		case !ok:
			p.settings = true
		case !on:
			p.exclude = append(p.exclude, name)
		}
	}
	slices.Sort(p.exclude)
	return nil
}

// knownKeys returns the keys of written.
func knownKeys() []string {
	var keys []string
	for f := range reflect.TypeFor[written]().Fields() {
		keys = append(keys, f.Tag.Get("json"))
	}
	return keys
}

// Keys that other programs understand and that get a note of their own, or none.
var (
	approvals = []string{"alwaysAllow", "autoApprove", "default_tools_approval_mode", "approval_mode"}
	// descriptive keys only describe a server, so they get no note.
	descriptive = []string{"name", "title", "description", "note", "comment", "$schema", "source", "gallery", "version", "icon", "dev"}
)

// read returns the server of an entry. The server is complete enough to be shown
// even with an error. Its notes lack the name of the file.
func (f found) read(source Source, folder string) (Server, error) {
	s, err := f.unexpanded(source)
	shown := s.AsWritten()
	s.shown = &shown
	if err != nil || s.Disabled {
		return s, err
	}
	x := expansion{lookup: os.LookupEnv, folder: folder, braces: f.style.braces, project: source == SourceProject}
	if s, err = x.server(s); err != nil {
		return s, err
	}
	return s, checkURL(s.URL)
}

// unexpanded returns the server of an entry before its variables are expanded. A
// disabled one never starts, so only the form of its entry is checked.
func (f found) unexpanded(source Source) (Server, error) {
	if err := CheckName(f.name); err != nil {
		return Server{}, err
	}
	var w written
	if err := json.Unmarshal(f.value, &w); err != nil {
		if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return Server{}, wrongType(mismatch)
		}
		return Server{}, fmt.Errorf("cannot be read: %w", err)
	}
	s := w.server(f.name)
	f.switchTools(&s)
	s.Notes = f.notes(w)
	if f.other != "" {
		s.Notes = append(s.Notes, f.other)
	}
	if s.Trust && source == SourceProject {
		s.Trust = false
		s.Notes = append(s.Notes, f.note("trust", `"trust" is ignored: only your own mcp.json and --mcp-config can trust a server`))
	}
	if s.Disabled {
		return s, nil
	}
	if err := w.check(); err != nil {
		return s, err
	}
	read, err := w.times(&s, f.style.seconds)
	for _, key := range slices.Sorted(maps.Keys(read)) {
		s.Notes = append(s.Notes, f.note(key, read[key]))
	}
	if err != nil {
		return s, err
	}
	return s, checkTools(s)
}

// server returns what is written, before its variables are expanded.
func (w written) server(name string) Server {
	s := Server{
		Name: name, Args: w.Args, Env: w.Env, Dir: w.Dir, Inherit: w.Inherit,
		URL: cmp.Or(w.URL, w.HTTPURL, w.ServerURL), SSE: strings.EqualFold(w.Type, "sse"), Headers: w.Headers, HeadersHelper: w.Helper, OAuth: w.OAuth.OAuth,
		IncludeTools: slices.Concat(w.IncludeTools, w.EnabledTools, w.Tools.include),
		ExcludeTools: slices.Concat(w.ExcludeTools, w.DisabledTools, w.DeniedTools, w.Tools.exclude),
		Disabled:     w.Disabled || w.Enabled != nil && !*w.Enabled,
		Required:     w.Required, Trust: w.Trust, Parallel: w.Parallel, NoRoots: w.Roots != nil && !*w.Roots, Protocol: w.Protocol,
	}
	if words := w.Command.words; len(words) > 0 {
		s.Command, s.Args = words[0], slices.Concat(words[1:], w.Args)
	}
	s.Env = merged(s.Env, w.Command.env)
	for _, v := range w.EnvVars {
		s.Inherit = append(s.Inherit, string(v))
	}
	s.Env = merged(s.Env, w.Environ)
	s.Headers = merged(s.Headers, w.HTTPHeaders)
	for header, variable := range w.EnvHeaders {
		s.Headers = merged(s.Headers, map[string]string{header: "${" + variable + "}"})
	}
	if w.Bearer != "" {
		s.Headers = merged(s.Headers, map[string]string{"Authorization": "Bearer ${" + w.Bearer + "}"})
	}
	if len(w.Scopes) > 0 {
		if s.OAuth == nil {
			s.OAuth = &OAuth{}
		}
		s.OAuth.Scopes = append(s.OAuth.Scopes, w.Scopes...)
	}
	return s
}

// merged returns a table with another's entries added.
func merged(table, more map[string]string) map[string]string {
	if len(more) == 0 {
		return table
	}
	out := map[string]string{}
	maps.Copy(out, table)
	maps.Copy(out, more)
	return out
}

// switchTools excludes the tools that the file turns off outside of the entry.
func (f found) switchTools(s *Server) {
	for pattern, on := range f.style.perTool {
		of, ok := strings.CutPrefix(pattern, f.name+"_")
		if pattern == f.name+"*" {
			of, ok = "*", true
		}
		if ok && !on {
			s.ExcludeTools = append(s.ExcludeTools, of)
		}
	}
	slices.Sort(s.ExcludeTools)
}

// notes returns what is ignored in an entry.
func (f found) notes(w written) []string {
	var keys map[string]json.RawMessage
	if json.Unmarshal(f.value, &keys) != nil {
		return nil
	}
	known := knownKeys()
	is := func(key string) func(string) bool { return func(k string) bool { return strings.EqualFold(k, key) } }
	var notes []string
	for key := range keys {
		switch {
		case slices.ContainsFunc(known, is(key)), slices.ContainsFunc(descriptive, is(key)):
		case slices.ContainsFunc(approvals, is(key)):
			notes = append(notes, f.note(key, fmt.Sprintf("%q is ignored: what may run without a question is decided by your rules", key)))
		default:
			hint := english.DidYouMean(key, append(known, approvals...))
			if hint == "" {
				hint = ", and is ignored"
			}
			notes = append(notes, f.note(key, fmt.Sprintf("unknown key %q%s", key, hint)))
		}
	}
	if w.Tools.settings {
		notes = append(notes, f.note("tools", `"tools" is ignored where it is about approval: what may run without a question is decided by your rules`))
	}
	slices.Sort(notes)
	return notes
}

// note returns a note about a key, with its line and server.
func (f found) note(key, text string) string {
	return fmt.Sprintf(":%d: server %q: %s", cmp.Or(f.lines[key], f.line), f.name, text)
}

func wrongType(e *json.UnmarshalTypeError) error {
	want := map[reflect.Kind]string{
		reflect.String: "text", reflect.Bool: "true or false", reflect.Slice: "a list of texts", reflect.Map: "an object of texts",
		reflect.Pointer: "a number", reflect.Struct: "an object",
	}
	field, _, _ := strings.Cut(e.Field, ".")
	for f := range reflect.TypeFor[written]().Fields() {
		if f.Tag.Get("json") != field || field == "" {
			continue
		}
		kind := want[f.Type.Kind()]
		switch {
		case f.Type == reflect.TypeFor[program]():
			kind = "text"
		case f.Type == reflect.TypeFor[*bool]():
			kind = "true or false"
		case field == "inherit" || field == "env_vars":
			kind = "a list of names of environment variables"
		}
		return fmt.Errorf("%q must be %s, not %s", field, kind, e.Value)
	}
	return fmt.Errorf("must be an object, not %s", e.Value)
}

// check returns an error if it is unclear what to start or to reach.
func (w written) check() error {
	kind := strings.ToLower(w.Type)
	stdio := kind == "stdio" || kind == "local"
	switch kind {
	case "", "stdio", "local", "http", "streamable-http", "streamablehttp", "streamable_http", "remote", "sse":
	default:
		return fmt.Errorf(`%q is not a type of server; "stdio", "http" and "sse" are`, w.Type)
	}
	addresses := slices.DeleteFunc([]string{w.URL, w.HTTPURL, w.ServerURL}, func(url string) bool { return url == "" })
	switch {
	case len(addresses) > 1:
		return errors.New(`has more than one of "url", "httpUrl" and "serverUrl"; keep one of them`)
	case len(w.Command.words) > 0 && len(addresses) > 0:
		return errors.New(`has both "command" and "url"; keep one of them`)
	case len(w.Command.words) == 0 && len(addresses) == 0:
		return errors.New(`has neither "command" nor "url"; add one of them`)
	case stdio && len(w.Command.words) == 0:
		return fmt.Errorf(`is of type %q and has no "command"`, kind)
	case w.Type != "" && !stdio && len(addresses) == 0:
		return fmt.Errorf(`is of type %q and has no "url"`, w.Type)
	case w.Protocol != "" && !mcp.IsValidProtocolVersion(w.Protocol):
		return fmt.Errorf(`"protocol" is %q; the versions are %s`, w.Protocol, english.List(mcp.ValidProtocolVersions, "and"))
	case kind == "sse" && mcp.IsModernProtocol(w.Protocol):
		return fmt.Errorf(`"protocol" is %q, which servers of type "sse" do not speak`, w.Protocol)
	}
	return nil
}

// unitNames are the units of numbers that are limits of time.
var unitNames = map[time.Duration]string{time.Millisecond: "milliseconds", time.Second: "seconds"}

// times reads the limits of time. opencode writes both into one object. seconds says that
// the number of "timeout" is one of seconds. The notes say how numbers were read whose unit
// is doubtful, by key.
func (w written) times(s *Server, seconds bool) (notes map[string]string, err error) {
	call, start := w.Timeout, any(nil)
	unit := time.Millisecond
	if seconds {
		unit = time.Second
	}
	notes = map[string]string{}
	if both, ok := call.(map[string]any); ok {
		call, start = both["request"], both["startup"]
	}
	for _, l := range []struct {
		key   string
		value any
		unit  time.Duration
		to    *time.Duration
	}{
		{"timeout", call, unit, &s.Timeout},
		{"tool_timeout_sec", number(w.ToolTimeoutS), time.Second, &s.Timeout},
		{"timeout.startup", start, time.Millisecond, &s.StartTimeout},
		{"startup_timeout", w.StartTimeout, time.Second, &s.StartTimeout},
		{"startup_timeout_sec", number(w.StartTimeoutS), time.Second, &s.StartTimeout},
		{"startup_timeout_ms", number(w.StartTimeoutMS), time.Millisecond, &s.StartTimeout},
	} {
		if l.value == nil {
			continue
		}
		unit := l.unit
		if number, ok := l.value.(float64); ok && !seconds && number > 0 {
			if unit = usual(l.key, number, unit); unit != l.unit {
				notes[l.key] = fmt.Sprintf("%q is %s, which is read as %s; write a duration such as \"30s\"", l.key, strconv.FormatFloat(number, 'f', -1, 64), unitNames[unit])
			}
		}
		limit, err := readTimeout(l.key, l.value, unit)
		if err != nil {
			return notes, err
		}
		*l.to = limit
	}
	return notes, nil
}

// usual returns the unit of a number that is a limit of time. Programs write such limits
// in different units under the same keys. No limit is shorter than a second, or longer
// than a quarter of an hour. A key that names its unit is right.
func usual(key string, number float64, unit time.Duration) time.Duration {
	switch {
	case strings.HasSuffix(key, "_ms"), strings.HasSuffix(key, "_sec"):
	case unit == time.Millisecond && number < 1000:
		return time.Second
	case unit == time.Second && number >= 1000:
		return time.Millisecond
	}
	return unit
}

// number returns a number as JSON has it, nil if it is not there.
func number(n *float64) any {
	if n == nil {
		return nil
	}
	return *n
}

// maxTimeout keeps numbers of seconds within a time.Duration.
const maxTimeout = 1 << 31

// readTimeout reads a limit of time: a duration, or a number of units.
func readTimeout(key string, value any, unit time.Duration) (time.Duration, error) {
	var d time.Duration
	switch v := value.(type) {
	case float64:
		d = time.Duration(min(v, maxTimeout) * float64(unit))
	case string:
		var err error
		if d, err = time.ParseDuration(v); err != nil {
			return 0, fmt.Errorf("%q is %q; write a duration such as \"30s\", or a number of %s", key, v, unitNames[unit])
		}
	default:
		return 0, fmt.Errorf("%q must be a duration such as \"30s\", or a number of %s", key, unitNames[unit])
	}
	if d <= 0 {
		return 0, fmt.Errorf("%q must be more than 0", key)
	}
	return d, nil
}

// checkTools returns an error for a pattern of tools that cannot be read.
func checkTools(s Server) error {
	for _, pattern := range slices.Concat(s.IncludeTools, s.ExcludeTools) {
		if !doublestar.ValidatePattern(pattern) {
			return fmt.Errorf("%q is not a pattern of tools; write a name, or a pattern such as get_*", pattern)
		}
	}
	return nil
}

func checkURL(text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		// The expanded address may hold a secret, so the error omits it.
		return errors.New(`"url" is not an address of the form http://host/path or https://host/path`)
	}
	return nil
}

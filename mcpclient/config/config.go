package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"replan/internal/lazyregexp"
	"replan/mcpclient/builtin"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Server is the configuration of one MCP server: a child process if Command is
// set, or a streamable HTTP endpoint if URL is.
type Server struct {
	Name         string            // letters, digits, dot, dash and underscore; not a name of a built-in server
	Command      string            // program to start
	Args         []string          // its arguments
	Env          map[string]string // added to the inherited environment, overriding it
	Dir          string            // working directory, relative to the workspace; empty means the workspace
	URL          string            // http or https
	Headers      map[string]string // sent with every HTTP request
	Source       Source            // who configured it
	Timeout      time.Duration     // per call; 0 means the pool's
	StartTimeout time.Duration     // to start and to list the tools; 0 means the pool's
	Inherit      []string          // names of environment variables that a child gets from this process besides the usual ones
	Disabled     bool              // listed but never started
	Problem      string            // error in the configuration; listed but never started

	// The configuration before variables are expanded, for display: the value of a
	// variable may be a secret.
	shown *plan.PendingServer
}

// Unusable returns a placeholder for a configuration file that cannot be used
// at all, so that the error appears where its servers would.
func Unusable(path string, source Source, err error) Server {
	return Server{Name: filepath.Base(path), Source: source, Problem: err.Error()}
}

// AsWritten returns what the user sees before the server is started.
func (s Server) AsWritten() plan.PendingServer {
	if s.shown != nil {
		return *s.shown
	}
	p := plan.PendingServer{Name: s.Name, Dir: s.Dir, Env: s.Env, URL: s.URL, Headers: s.Headers}
	if s.Command != "" {
		p.Command = append([]string{s.Command}, s.Args...)
	}
	return p
}

// Source says who configured a server.
type Source int

// The sources of a server. A project's own servers start only after the user
// allows them; for the other sources the configuration itself is permission.
const (
	SourceUser    Source = iota // the user's own configuration
	SourceFlag                  // a file named on the command line
	SourceProject               // the workspace's own file
)

// String returns the name of the source for display.
func (s Source) String() string {
	switch s {
	case SourceFlag:
		return "command line"
	case SourceProject:
		return "project"
	default:
		return "user configuration"
	}
}

// maxConfig is the maximum size of a configuration file, in bytes.
const maxConfig = 1 << 20

// names matches valid names of servers and tools. It keeps server:tool
// unambiguous and excludes invisible characters.
var names = lazyregexp.New(`^[A-Za-z0-9_.-]{1,128}$`)

// ValidName reports whether name can name a server or a tool.
func ValidName(name string) bool { return names.MatchString(name) }

// Errors about a name; they are printed after the name.
var (
	errNameForm = errors.New("a name may hold letters, digits, dot, dash and underscore only")
	// ErrNameTaken refuses the name of a built-in server.
	ErrNameTaken = errors.New("this name is kept for the program's own tools; choose another")
)

// CheckName returns an error if name is invalid for a configured server. The
// names of the built-in servers appear in the rules and on the screen, so no
// other server may use them, in any case.
func CheckName(name string) error {
	switch {
	case !names.MatchString(name):
		return errNameForm
	case strings.EqualFold(name, prompt.PlanServer), strings.EqualFold(name, builtin.ServerName):
		return ErrNameTaken
	}
	return nil
}

// written is one server in a configuration file.
type written struct {
	Type         string            `json:"type"`
	Command      string            `json:"command"`
	Args         []string          `json:"args"`
	Env          map[string]string `json:"env"`
	Dir          string            `json:"cwd"`
	URL          string            `json:"url"`
	Headers      map[string]string `json:"headers"`
	Timeout      any               `json:"timeout"`
	StartTimeout any               `json:"startup_timeout"`
	Inherit      []string          `json:"inherit"`
	Disabled     bool              `json:"disabled"`
}

// Read reads the servers of a configuration file in the mcpServers
// convention, in the file's order. Comments and trailing commas are allowed.
// ${NAME} and ${NAME:-default} expand to environment variables in command,
// args, env, cwd, url and headers. A timeout is a duration ("30s") or a number
// of milliseconds, a startup_timeout a duration or a number of seconds. Unknown
// fields are ignored.
//
// The result includes invalid servers, with Problem set. The error lists every
// mistake in one sentence each, with the file, the line and the server. If the
// whole file is unusable, Read returns only the error. The error wraps
// fs.ErrNotExist if there is no file.
func Read(path string, source Source) ([]Server, error) {
	text, err := readBounded(path)
	if err != nil {
		return nil, fmt.Errorf("reading the MCP servers: %w", err)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // some editors write a byte order mark
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, fmt.Errorf(`%s is empty; write {"mcpServers": {}} into it, or remove it`, path)
	}
	root, err := hujson.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s is not JSON: %s", path, strings.TrimPrefix(err.Error(), "hujson: "))
	}
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf(`%s: the file must be an object with "mcpServers" in it`, path)
	}
	entries, found := member(object, "mcpServers")
	if !found {
		return nil, fmt.Errorf(`%s: there is no "mcpServers" in it; servers go under that name`, path)
	}
	table, ok := entries.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf(`%s: "mcpServers" must be an object, one server under each name`, path)
	}

	var servers []Server
	var mistakes []error
	seen := map[string]bool{}
	for i := range table.Members {
		m := &table.Members[i]
		name := literal(m.Name)
		line := 1 + bytes.Count(text[:m.Name.StartOffset], []byte("\n"))
		server, err := readServer(name, &m.Value)
		again := seen[name]
		if err == nil && again {
			err = errors.New("the name is used twice")
		}
		seen[name] = true
		if err != nil {
			mistakes = append(mistakes, fmt.Errorf("%s:%d: server %q: %w", path, line, name, err))
			if again {
				name = fmt.Sprintf("%s (line %d)", name, line) // the first one keeps the name
			}
			server = Server{Name: name, Problem: fmt.Sprintf("%s:%d: %v", filepath.Base(path), line, err), shown: server.shown}
		}
		server.Source = source
		servers = append(servers, server)
	}
	return servers, errors.Join(mistakes...)
}

// readBounded reads a regular file. It refuses any other kind: a pipe without
// a writer, for example, would block the program forever.
func readBounded(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file; write the servers into one", path)
	}
	file, err := os.Open(path) //nolint:gosec // the path is the user's own choice
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxConfig+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxConfig {
		return nil, fmt.Errorf("%s is larger than %d KB", path, maxConfig>>10)
	}
	return text, nil
}

func member(object *hujson.Object, name string) (*hujson.Value, bool) {
	for i := range object.Members {
		if literal(object.Members[i].Name) == name {
			return &object.Members[i].Value, true
		}
	}
	return nil, false
}

func literal(v hujson.Value) string {
	text, ok := v.Value.(hujson.Literal)
	if !ok {
		return ""
	}
	return text.String()
}

func readServer(name string, value *hujson.Value) (Server, error) {
	if err := CheckName(name); err != nil {
		return Server{}, err
	}
	value.Standardize()
	var w written
	if err := json.Unmarshal(value.Pack(), &w); err != nil {
		if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return Server{}, wrongType(mismatch)
		}
		return Server{}, fmt.Errorf("cannot be read: %w", err)
	}
	s := Server{Name: name, Disabled: w.Disabled}
	s.shown = &plan.PendingServer{Name: name, Dir: w.Dir, Env: w.Env, URL: w.URL, Headers: w.Headers}
	if w.Command != "" {
		s.shown.Command = append([]string{w.Command}, w.Args...)
	}
	if s.Disabled {
		// A disabled server never starts, so its address is not checked.
		s.Command, s.Args, s.Env, s.Dir, s.URL, s.Headers = w.Command, w.Args, w.Env, w.Dir, w.URL, w.Headers
		return s, nil
	}
	if err := checkKind(w); err != nil {
		return s, err
	}
	var err error
	if s.Timeout, err = readTimeout("timeout", w.Timeout, time.Millisecond); err != nil {
		return s, err
	}
	if s.StartTimeout, err = readTimeout("startup_timeout", w.StartTimeout, time.Second); err != nil {
		return s, err
	}
	s.Inherit = w.Inherit
	x := expansion{lookup: os.LookupEnv}
	s.Command, s.Dir, s.URL = x.text(w.Command), x.text(w.Dir), x.text(w.URL)
	for _, arg := range w.Args {
		s.Args = append(s.Args, x.text(arg))
	}
	s.Env, s.Headers = x.table(w.Env), x.table(w.Headers)
	if x.err != nil {
		return s, x.err
	}
	return s, checkURL(s.URL)
}

func wrongType(e *json.UnmarshalTypeError) error {
	want := map[string]string{
		"type": "text", "command": "text", "cwd": "text", "url": "text",
		"args": "a list of texts", "inherit": "a list of names of environment variables", "env": "an object of texts", "headers": "an object of texts",
		"disabled": "true or false",
	}
	field, _, _ := strings.Cut(e.Field, ".")
	if kind, ok := want[field]; ok {
		return fmt.Errorf("%q must be %s, not %s", field, kind, e.Value)
	}
	return fmt.Errorf("must be an object, not %s", e.Value)
}

func checkKind(w written) error {
	switch strings.ToLower(w.Type) {
	case "", "stdio", "http", "streamable-http", "streamablehttp", "streamable_http":
	case "sse":
		return errors.New(`the "sse" transport is not supported; give the server's streamable HTTP address with "type": "http"`)
	default:
		return fmt.Errorf(`%q is not a type of server; "stdio" and "http" are`, w.Type)
	}
	stdio := strings.EqualFold(w.Type, "stdio")
	switch {
	case w.Command != "" && w.URL != "":
		return errors.New(`has both "command" and "url"; keep one of them`)
	case w.Command == "" && w.URL == "":
		return errors.New(`has neither "command" nor "url"; add one of them`)
	case stdio && w.Command == "":
		return errors.New(`is of type "stdio" and has no "command"`)
	case w.Type != "" && !stdio && w.URL == "":
		return fmt.Errorf(`is of type %q and has no "url"`, w.Type)
	}
	return nil
}

// unitNames are the units of numbers that are limits of time.
var unitNames = map[time.Duration]string{time.Millisecond: "milliseconds", time.Second: "seconds"}

// readTimeout reads a limit of time: a duration, or a number of units.
func readTimeout(key string, value any, unit time.Duration) (time.Duration, error) {
	var d time.Duration
	switch v := value.(type) {
	case nil:
		return 0, nil
	case float64:
		d = time.Duration(v * float64(unit))
		if unit == time.Millisecond && v > 0 && v < 1000 {
			return 0, fmt.Errorf("%q is %g milliseconds, which is too short for a call; write %q for %g seconds, or %g for milliseconds", key, v, fmt.Sprintf("%gs", v), v, v*1000)
		}
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

var reference = lazyregexp.New(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}`)

// expansion expands environment variables in text and keeps the first error.
type expansion struct {
	lookup func(string) (string, bool)
	err    error
}

func (x *expansion) text(s string) string {
	return reference.ReplaceAllStringFunc(s, func(ref string) string {
		parts := reference.FindStringSubmatch(ref)
		value, set := x.lookup(parts[1])
		fallback, given := strings.CutPrefix(parts[2], ":-")
		switch {
		case given && value == "":
			return fallback
		case !set && x.err == nil:
			x.err = fmt.Errorf("the environment variable %s is not set; set it, or write ${%s:-default}", parts[1], parts[1])
		}
		return value
	})
}

func (x *expansion) table(in map[string]string) map[string]string {
	if in == nil {
		return nil
	}
	out := make(map[string]string, len(in))
	for name, value := range in {
		out[name] = x.text(value)
	}
	return out
}

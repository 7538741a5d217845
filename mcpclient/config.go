package mcpclient

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

// Server is one MCP server as it is configured: a child process where Command
// is set, a streamable HTTP endpoint where URL is.
type Server struct {
	Name     string            // letters, digits, dot, dash and underscore; none of the program's own
	Command  string            // program to start
	Args     []string          // its arguments
	Env      map[string]string // set for the child, over what it inherits
	Dir      string            // working directory; relative to the workspace, which it is when empty
	URL      string            // http or https
	Headers  map[string]string // sent with every HTTP request
	Source   Source            // who configured it
	Timeout  time.Duration     // of one call; 0 means the pool's
	Disabled bool              // shown, never started
	Problem  string            // what is wrong with how it is configured; shown, never started

	// What the file says before variables are put in, for people: the value
	// of a variable may be a secret.
	shown *plan.PendingServer
}

// Unusable stands for a configuration file that cannot be used as a whole, so
// that what is wrong with it is shown where its servers would be.
func Unusable(path string, source Source, err error) Server {
	return Server{Name: filepath.Base(path), Source: source, Problem: err.Error()}
}

// forPeople is what the user is shown before the server is started.
func (s Server) forPeople() plan.PendingServer {
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

// Who can have configured a server. A project's own servers start after a
// yes; the others are one.
const (
	SourceUser    Source = iota // the user's own configuration
	SourceFlag                  // a file named on the command line
	SourceProject               // the workspace's own file
)

// String names the source for people.
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

// maxConfig bounds a configuration file, in bytes.
const maxConfig = 1 << 20

// names is what a server or a tool may be called, so that server:tool can be
// told apart and nothing hides in a name.
var names = lazyregexp.New(`^[A-Za-z0-9_.-]{1,128}$`)

// What is wrong with a name, after the name itself.
var (
	errNameForm  = errors.New("a name may hold letters, digits, dot, dash and underscore only")
	errNameTaken = errors.New("this name is kept for the program's own tools; choose another")
)

// checkName says what is wrong with the name of a server that somebody
// configured. Those of the program's own servers are in its rules and on the
// screen, so nobody else may answer to them, in whatever case.
func checkName(name string) error {
	switch {
	case !names.MatchString(name):
		return errNameForm
	case strings.EqualFold(name, prompt.PlanServer), strings.EqualFold(name, builtin.ServerName):
		return errNameTaken
	}
	return nil
}

// written is one server in a configuration file.
type written struct {
	Type     string            `json:"type"`
	Command  string            `json:"command"`
	Args     []string          `json:"args"`
	Env      map[string]string `json:"env"`
	Dir      string            `json:"cwd"`
	URL      string            `json:"url"`
	Headers  map[string]string `json:"headers"`
	Timeout  any               `json:"timeout"`
	Disabled bool              `json:"disabled"`
}

// ReadConfig reads the servers of a configuration file in the mcpServers
// convention, in the file's order. Comments and trailing commas are allowed;
// ${NAME} and ${NAME:-default} stand for environment variables in command,
// args, env, cwd, url and headers; timeout is a duration ("30s") or a number of
// milliseconds; fields that are not known are ignored.
//
// A server with a mistake is among them, with its Problem, and the error names
// every mistake, one sentence each with the file, the line and the server. Where
// the file as a whole cannot be used there is the error alone; where there is no
// file it wraps fs.ErrNotExist.
func ReadConfig(path string, source Source) ([]Server, error) {
	text, err := readBounded(path)
	if err != nil {
		return nil, fmt.Errorf("reading the MCP servers: %w", err)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // as some editors begin a file
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
				name = fmt.Sprintf("%s (line %d)", name, line) // the first of the two keeps the name
			}
			server = Server{Name: name, Problem: fmt.Sprintf("%s:%d: %v", filepath.Base(path), line, err), shown: server.shown}
		}
		server.Source = source
		servers = append(servers, server)
	}
	return servers, errors.Join(mistakes...)
}

// readBounded reads a regular file. Anything else, such as a pipe that nobody
// writes to, could keep the program waiting for ever.
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
	if err := checkName(name); err != nil {
		return Server{}, err
	}
	value.Standardize()
	var w written
	if err := json.Unmarshal(value.Pack(), &w); err != nil {
		var mismatch *json.UnmarshalTypeError
		if errors.As(err, &mismatch) {
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
		// How it would be reached is no mistake where nothing starts.
		s.Command, s.Args, s.Env, s.Dir, s.URL, s.Headers = w.Command, w.Args, w.Env, w.Dir, w.URL, w.Headers
		return s, nil
	}
	if err := checkKind(w); err != nil {
		return s, err
	}
	var err error
	if s.Timeout, err = readTimeout(w.Timeout); err != nil {
		return s, err
	}
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
		"args": "a list of texts", "env": "an object of texts", "headers": "an object of texts",
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
		return errors.New(`has both "command" and "url"; keep the one that is meant`)
	case w.Command == "" && w.URL == "":
		return errors.New(`has neither "command" nor "url"; one of them says how to reach it`)
	case stdio && w.Command == "":
		return errors.New(`is of type "stdio" and has no "command"`)
	case w.Type != "" && !stdio && w.URL == "":
		return fmt.Errorf(`is of type %q and has no "url"`, w.Type)
	}
	return nil
}

func readTimeout(value any) (time.Duration, error) {
	var d time.Duration
	switch v := value.(type) {
	case nil:
		return 0, nil
	case float64:
		d = time.Duration(v * float64(time.Millisecond))
	case string:
		var err error
		if d, err = time.ParseDuration(v); err != nil {
			return 0, fmt.Errorf(`"timeout" is %q; write a duration such as "30s", or milliseconds`, v)
		}
	default:
		return 0, errors.New(`"timeout" must be a duration such as "30s", or milliseconds`)
	}
	if d <= 0 {
		return 0, errors.New(`"timeout" must be more than 0`)
	}
	return d, nil
}

func checkURL(text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		// The address itself may hold a secret by now, so it is not repeated.
		return errors.New(`"url" is not an address of the form http://host/path or https://host/path`)
	}
	return nil
}

var reference = lazyregexp.New(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}`)

// expansion puts environment variables into text and keeps the first error.
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

package config

import (
	"errors"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"replan/internal/lazyregexp"
	"replan/mcpclient/builtin"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Server is the configuration of one MCP server: a child process if Command is
// set, or an HTTP endpoint if URL is.
type Server struct {
	Name    string            // letters, digits, dot, dash and underscore; not a name of a built-in server
	Command string            // program to start
	Args    []string          // its arguments
	Env     map[string]string // added to the inherited environment, overriding it
	Dir     string            // working directory, relative to the workspace; empty means the workspace
	Inherit []string          // further variables of this process that a child gets; a name may end in * for all that begin so

	URL           string            // http or https
	SSE           bool              // the endpoint speaks the HTTP+SSE transport of 2024-11-05, not streamable HTTP
	Headers       map[string]string // sent with every HTTP request
	HeadersHelper string            // a shell command that prints more headers as a JSON object; "" is none
	OAuth         *OAuth            // how to log in; nil if the file says nothing about it

	IncludeTools []string // patterns of the tools to offer; none means all
	ExcludeTools []string // patterns of tools that are not offered, even if included

	Protocol     string        // version of the protocol that it speaks; "" finds out
	Source       Source        // who configured it
	Timeout      time.Duration // per call; 0 means the pool's
	StartTimeout time.Duration // to start and to list the tools; 0 means the pool's
	Disabled     bool          // listed but never started
	Required     bool          // commands cannot do without it
	NoRoots      bool          // it does not learn the workspace as its root
	Trust        bool          // its claims about its tools count; never set by a project's file
	Parallel     bool          // it takes calls that may change something side by side
	Problem      string        // error in the configuration; listed but never started
	Notes        []string      // what is ignored in its entry, a sentence each with file and line

	// The configuration before variables are expanded, for display: the value of a
	// variable may be a secret.
	shown *plan.PendingServer
}

// OAuth is what a file says about logging in to a server.
type OAuth struct {
	ClientID       string   `json:"clientId,omitempty"`          // registered with the authorization server; "" registers at each login
	ClientSecret   string   `json:"clientSecret,omitempty"`      // "" for public clients
	ClientMetadata string   `json:"clientMetadataUrl,omitempty"` // https address of a document about this program, which then is its client id; "" is none
	CallbackPort   int      `json:"callbackPort,omitempty"`      // of the redirect address on this machine; 0 is any
	Scopes         []string `json:"scopes,omitempty"`            // to ask for; none means those that the server names
}

// Chosen removes servers whose name a more trusted source also uses. It keeps the
// order.
func Chosen(all []Server) []Server {
	best := map[string]int{}
	for i, s := range all {
		if j, seen := best[s.Name]; !seen || s.Source.Before(all[j].Source) {
			best[s.Name] = i
		}
	}
	var kept []Server
	for i, s := range all {
		if best[s.Name] == i {
			kept = append(kept, s)
		}
	}
	return kept
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
	p := plan.PendingServer{Name: s.Name, Dir: s.Dir, Env: s.Env, Inherit: s.Inherit, URL: s.URL, Headers: s.Headers, HeadersHelper: s.HeadersHelper, SSE: s.SSE, NoRoots: s.NoRoots}
	if s.Command != "" {
		p.Command = append([]string{s.Command}, s.Args...)
	}
	if o := s.OAuth; o != nil {
		p.OAuth = map[string]string{
			"clientId": o.ClientID, "clientSecret": o.ClientSecret, "clientMetadataUrl": o.ClientMetadata,
			"callbackPort": strings.TrimPrefix(strconv.Itoa(o.CallbackPort), "0"), "scopes": strings.Join(o.Scopes, " "),
		}
		maps.DeleteFunc(p.OAuth, func(_, value string) bool { return value == "" })
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

// Before reports whether a source takes precedence over another for servers of the same
// name: the command line, then the user, then the project.
func (s Source) Before(other Source) bool {
	rank := map[Source]int{SourceFlag: 0, SourceUser: 1, SourceProject: 2}
	return rank[s] < rank[other]
}

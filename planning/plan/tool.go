package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"unicode"

	"replan/internal/english"
	"replan/internal/untrusted"
)

// Tool is an MCP tool as plans see it: its name, the schema of its arguments and
// its server's hints on its effects.
type Tool struct {
	Name        string          `json:"name"`                   // bare, as its server calls it
	Server      string          `json:"server"`                 // the server that offers it
	Description string          `json:"description,omitempty"`  // untrusted text
	InputSchema json.RawMessage `json:"input_schema,omitempty"` // JSON Schema of the arguments
	// OutputSchema is the JSON Schema of the structured content of a result; empty if
	// the server sends none, or one above MaxOutputSchema.
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
	// SeenSchema is the JSON Schema of the results that earlier runs of the folder have
	// seen of a tool without an output schema. It has names and types of fields.
	SeenSchema  json.RawMessage `json:"seen_schema,omitempty"`
	Uses        int             `json:"uses,omitempty"`        // how often it was used in the folder's latest runs
	ReadOnly    bool            `json:"read_only,omitempty"`   // changes nothing
	Destructive bool            `json:"destructive,omitempty"` // may destroy existing data
	Annotated   bool            `json:"annotated,omitempty"`   // the server said anything at all about effects
	OpenWorld   *bool           `json:"open_world,omitempty"`  // it deals with the world outside; nil where its server does not say
	Trusted     bool            `json:"trusted,omitempty"`     // one of the workspace's own operators
	TimeoutMS   int64           `json:"timeout_ms,omitempty"`  // limit of a call, of its server's configuration; 0 is none
	Vouched     bool            `json:"vouched,omitempty"`     // the user trusts its server, so the server's hints count
	Serial      bool            `json:"serial,omitempty"`      // serial tools of one server are called one after the other
	// Pin is the SHA-256 (hex) of all that the server says of the tool; empty for the
	// workspace's own. Changed is how that differs from what the user has accepted, a
	// unified diff; while it is not empty, the tool is not offered. With TooLong it is a
	// sentence in place of a diff above MaxChange, and no gate can accept it.
	Pin      string         `json:"pin,omitempty"`
	Changed  untrusted.Text `json:"changed,omitempty"`
	TooLong  bool           `json:"too_long,omitempty"`
	Previews bool           `json:"previews,omitempty"` // can preview its changes
	Commands bool           `json:"commands,omitempty"` // can preview the command it would run
	// Contained says what keeps the effects of a call from the rest of this machine.
	Contained Containment `json:"contained,omitempty"`
}

// Containment is the box that the program of a call runs in.
type Containment string

// Boxes of programs.
const (
	NotContained     Containment = ""
	ContainedFiles   Containment = "files"   // it changes only the files of the workspace, but may use the network
	ContainedOffline Containment = "offline" // nor does it use the network
)

// MaxInputSchema is how many bytes the input schema of a tool may have. A call of a
// tool with a larger one is checked by its server alone.
const MaxInputSchema = 128 << 10

// MaxOutputSchema is how many bytes the output schema of a tool may have. It says
// which fields a result has, nothing that a call needs, and every run.started
// holds it.
const MaxOutputSchema = 16 << 10

// QualifiedName is server:tool, which always names one tool alone.
func (t Tool) QualifiedName() string { return t.Server + ":" + t.Name }

// Repeatable reports whether a call that was interrupted can simply be made again:
// it changes nothing, or runs tests or a linter.
func (t Tool) Repeatable() bool {
	return t.ReadOnly || t.Trusted && (t.Name == "test.run" || t.Name == "test.lint")
}

// KeepsText reports whether text that goes into the tool stays where it is. That
// holds for the workspace's own tools that only read. It also holds if the user
// trusts the server, and the server says that the tool only reads and reaches
// nothing outside.
func (t Tool) KeepsText() bool {
	return t.ReadOnly && (t.Trusted || t.Vouched && t.OpenWorld != nil && !*t.OpenWorld)
}

// ResourceServer and ResourceTool name the tool of the program itself that reads
// resources of MCP servers. Its argument "server" names the server.
const (
	ResourceServer = "mcp"
	ResourceTool   = "resources.read"
)

// Recipient returns the server that receives the arguments of a call.
func (t Tool) Recipient(args map[string]any) string {
	if t.Server == ResourceServer && t.Name == ResourceTool {
		server, _ := args["server"].(string)
		return server
	}
	return t.Server
}

// MaxChange is how many bytes of a change by a server are shown with a question. A
// longer one is accepted on the command line, which prints all of it.
const MaxChange = 32 << 10

// Catalog is the tools on offer, the same for a whole run. The zero value
// is an empty catalog.
type Catalog []Tool

// Accepted returns the tools that may be offered: those whose server has not changed
// what it says of them.
func (c Catalog) Accepted() Catalog {
	changed := func(t Tool) bool { return t.Changed != "" }
	if !slices.ContainsFunc(c, changed) {
		return c
	}
	return slices.DeleteFunc(slices.Clone(c), changed)
}

// ChangedToolError says that the server of a tool has changed it, so that it may not
// be used.
type ChangedToolError struct{ Tool Tool }

func (e *ChangedToolError) Error() string {
	return fmt.Sprintf("the server %s has changed its tool %s since it was accepted: read the change and accept it with replan tools accept %s", e.Tool.Server, e.Tool.Name, e.Tool.QualifiedName())
}

// UnknownToolError says that no server offers a tool of this name.
type UnknownToolError struct {
	Name  string
	Known []string // the names that exist, sorted
}

func (e *UnknownToolError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("there is no tool %q, and no server offers any", e.Name)
	}
	if hint := english.DidYouMean(e.Name, e.Known); hint != "" {
		return fmt.Sprintf("there is no tool %q%s", e.Name, hint)
	}
	if len(e.Known) <= mostNamed {
		return fmt.Sprintf("there is no tool %q; there are %s", e.Name, strings.Join(e.Known, ", "))
	}
	if near := e.nearest(); len(near) > 0 {
		return fmt.Sprintf("there is no tool %q; the nearest %s %s", e.Name, english.Agree(len(near), "name is", "names are"), strings.Join(near, ", "))
	}
	return fmt.Sprintf("there is no tool %q; there are %s", e.Name, english.Some(e.Known, mostNamed, ""))
}

// mostNear is how many of the nearest names an error lists.
const mostNear = 8

// nearest returns the names that share the most words with the unknown one.
func (e *UnknownToolError) nearest() []string {
	wanted := NameWords(e.Name)
	shared := make(map[string]int, len(e.Known))
	var near []string
	for _, name := range e.Known {
		for _, word := range slices.Compact(slices.Sorted(slices.Values(NameWords(name)))) {
			if slices.Contains(wanted, word) {
				shared[name]++
			}
		}
		if shared[name] > 0 {
			near = append(near, name)
		}
	}
	slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(shared[b], shared[a]) })
	return near[:min(len(near), mostNear)]
}

// NameWords returns the words of a tool's name in small letters, in order: fs and read of
// fs.read, get and issue of getIssue.
func NameWords(name string) []string {
	var parted strings.Builder
	before := ' '
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			parted.WriteByte(' ')
		}
		parted.WriteRune(unicode.ToLower(r))
		before = r
	}
	return strings.FieldsFunc(parted.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// AmbiguousToolError says that several servers offer a tool of this bare name.
type AmbiguousToolError struct {
	Name       string
	Candidates []string // qualified names, sorted
}

func (e *AmbiguousToolError) Error() string {
	return fmt.Sprintf("the tool name %q is ambiguous: say %s", e.Name, strings.Join(e.Candidates, " or "))
}

// operators are the bare names of the workspace's built-in operators.
var operators = map[string]bool{
	"fs.read": true, "fs.list": true, "fs.stat": true, "fs.search": true, "fs.patch": true,
	"fs.write": true, "fs.move": true, "fs.mkdir": true, "fs.remove": true,
	"code.symbols": true, "code.definition": true, "code.references": true, "code.parse": true,
	"code.transform": true, "code.summarize": true, "code.remove": true, "code.insert": true, "code.comment": true,
	"data.set":    true,
	"test.detect": true, "test.run": true, "test.lint": true,
	"vcs.branch": true, "vcs.commit": true, "vcs.push": true, "vcs.status": true, "vcs.diff": true,
	"vcs.log": true, "vcs.show": true, "vcs.branches": true,
	"proc.run": true, "memory.read": true, "memory.write": true,
}

// OperatorNames lists the bare names of the workspace's built-in operators,
// sorted, whether or not a catalog has them.
func OperatorNames() []string { return slices.Sorted(maps.Keys(operators)) }

// IsOperator reports whether a bare name is that of a built-in operator. Such a
// name means the workspace's own, whatever other servers call their tools.
func IsOperator(name string) bool { return operators[name] }

// Find returns the tool of a name: a qualified name, the workspace's operator of
// that name, or a bare name offered by one server alone. It fails with
// *UnknownToolError or *AmbiguousToolError.
func (c Catalog) Find(name string) (Tool, error) {
	var found []Tool
	server, tool, _ := strings.Cut(name, ":")
	for _, t := range c {
		if t.Server == server && t.Name == tool {
			return t, nil
		}
		if t.Name == name {
			found = append(found, t)
		}
	}
	if own := slices.IndexFunc(found, Tool.isOperator); own >= 0 {
		return found[own], nil
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		unknown := &UnknownToolError{Name: name, Known: c.Names()}
		for _, t := range c {
			if strings.Replace(t.QualifiedName(), ":", ".", 1) == name {
				unknown.Known = []string{t.QualifiedName()} // whose separator is another one
			}
		}
		return Tool{}, unknown
	}
	candidates := make([]string, len(found))
	for i, t := range found {
		candidates[i] = t.QualifiedName()
	}
	sort.Strings(candidates)
	return Tool{}, &AmbiguousToolError{Name: name, Candidates: candidates}
}

// isOperator reports whether the tool is one of the workspace's own operators.
func (t Tool) isOperator() bool { return t.Trusted && operators[t.Name] }

// Names returns the shortest name that means each tool, sorted: bare where it is
// the workspace's operator or one server alone offers it, qualified otherwise.
func (c Catalog) Names() []string {
	servers := make(map[string]int, len(c))
	for _, t := range c {
		servers[t.Name]++
	}
	names := make([]string, 0, len(c))
	for _, t := range c {
		if servers[t.Name] > 1 && !t.isOperator() {
			names = append(names, t.QualifiedName())
		} else {
			names = append(names, t.Name)
		}
	}
	sort.Strings(names)
	return names
}

// ShortName is the shortest name that means the tool, as Names has it.
func (c Catalog) ShortName(t Tool) string {
	if t.isOperator() || !slices.ContainsFunc(c, func(o Tool) bool { return o.Name == t.Name && o.Server != t.Server }) {
		return t.Name
	}
	return t.QualifiedName()
}

// NameOf is the shortest name that means a tool of the catalog.
func (c Catalog) NameOf(t Tool) string {
	same := 0
	for _, other := range c {
		if other.Name == t.Name {
			same++
		}
	}
	if same > 1 {
		return t.QualifiedName()
	}
	return t.Name
}

// Offer is the tools that a model may call in its reply. Its JSON form is their
// names alone: the catalog of the run describes them.
type Offer []Tool

// MarshalJSON writes the names.
func (o Offer) MarshalJSON() ([]byte, error) { return EncodeJSON(Catalog(o).Names()) }

// UnmarshalJSON reads the names.
func (o *Offer) UnmarshalJSON(data []byte) error {
	var names []string
	if err := json.Unmarshal(data, &names); err != nil {
		return fmt.Errorf("read the tools on offer: %w", err)
	}
	*o = nil
	for _, name := range names {
		*o = append(*o, Tool{Name: name})
	}
	return nil
}

// Find returns the tool a model means by a name. A model unable to write dots or
// colons writes something else for them.
func (o Offer) Find(name string) (Tool, error) {
	tool, err := Catalog(o).Find(name)
	if err == nil {
		return tool, nil
	}
	plain := plainName(name)
	var found []Tool
	for _, t := range o {
		if plainName(t.Name) == plain || plainName(t.QualifiedName()) == plain {
			found = append(found, t)
		}
	}
	if len(found) != 1 {
		return Tool{}, fmt.Errorf("find the tool: %w", err)
	}
	return found[0], nil
}

func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '.' || r == ':' || r == '-' || r == '/' {
			return '_'
		}
		return r
	}, strings.ToLower(name))
}

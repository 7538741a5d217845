package fit

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"replan/internal/untrusted"
	"replan/planning/pace"
)

// Settings are how replan drives a model.
type Settings struct {
	Short bool   `json:"short"`           // it plans at once, in five fields a step, and rules add the rest
	Loops bool   `json:"loops"`           // it is offered agents, and tools to call in chat
	Think string `json:"think,omitempty"` // before each turn of these: ThinkOff, or "" for the default
}

// ThinkOff is the value of Settings.Think for a model that does not think before a turn.
const ThinkOff = "off"

// String describes the settings in a few words.
func (s Settings) String() string {
	words := []string{"full plans"}
	if s.Short {
		words[0] = "short plans"
	}
	if s.Loops {
		words = append(words, "agents")
	} else {
		words = append(words, "no agents")
	}
	if s.Think != "" {
		words = append(words, "thinking "+s.Think)
	}
	return strings.Join(words, ", ")
}

// Share is how many of a number of attempts reached something.
type Share struct {
	Done int `json:"done"`
	Of   int `json:"of"`
}

// Add counts an attempt.
func (s *Share) Add(done bool) {
	s.Of++
	if done {
		s.Done++
	}
}

// Rate returns the share from 0 to 1, 0 without attempts.
func (s Share) Rate() float64 { return float64(s.Done) / float64(max(s.Of, 1)) }

// possible reports whether no more was reached than was tried.
func (s Share) possible() bool { return 0 <= s.Done && s.Done <= s.Of }

// String returns the share as "7 of 12".
func (s Share) String() string { return fmt.Sprintf("%d of %d", s.Done, s.Of) }

// Source says where a finding comes from.
type Source string

// The sources of findings, the most reliable first.
const (
	SourceMeasured Source = "measured" // on this server
	SourceLoaded   Source = "loaded"   // from a file that another user exported
	SourceBuiltIn  Source = "built_in" // with this version, see [BuiltIn]
)

// Finding is what the tasks showed of a model, and how replan drives it since. Each
// attempt counts alone: a task that was tried three times counts three times.
type Finding struct {
	Weights  untrusted.Text `json:"weights"`          // as its file names them: "Qwen2.5-Coder 1.5B Q4_K_M"; "" if it does not
	Model    untrusted.Text `json:"model"`            // as the server named it
	Server   string         `json:"server,omitempty"` // its URL; "" for an exported finding
	Digest   string         `json:"digest,omitempty"` // of the model's content
	Settings Settings       `json:"settings"`

	Plans   Share        `json:"plans"`   // first plans with the calls that the goal needs, each of which ran
	Reads   Share        `json:"reads"`   // goals that only read, with a right answer
	Changes Share        `json:"changes"` // goals that change files, with the right changes
	Agents  Share        `json:"agents"`  // steps that an agent carried out; of 0 if the model cannot call tools
	Tasks   []TaskResult `json:"tasks"`

	Speed    pace.Speed `json:"speed,omitzero"` // on the server
	GoalMS   int64      `json:"goal_ms"`        // of a goal, the median
	Measured time.Time  `json:"measured"`
	Replan   string     `json:"replan"` // the version that measured it

	Source Source `json:"source,omitempty"`
}

// TaskResult is what came of the attempts at one task.
type TaskResult struct {
	ID    string  `json:"id"`
	Plans Share   `json:"plans"`
	Goals Share   `json:"goals"`
	MS    []int64 `json:"ms"` // of each attempt
}

// Goals returns how many goals were reached.
func (f Finding) Goals() Share {
	return Share{f.Reads.Done + f.Changes.Done, f.Reads.Of + f.Changes.Of}
}

// What a rate allows to expect.
const (
	mostly    = 0.75
	sometimes = 0.4
)

// expect says what a user may expect of the model, and what to mind.
func (f Finding) expect() (can, mind string) {
	reads, changes := f.Reads.Rate(), f.Changes.Rate()
	switch {
	case reads >= mostly && changes >= mostly:
		return "answers and changes files", "look at each diff"
	case reads >= mostly && changes >= sometimes:
		return "reads and answers", "changes need your eye"
	case reads >= mostly:
		return "reads and answers", "leave changes to a larger model"
	case changes >= mostly:
		return "changes what you name", "check its answers"
	case f.Useful():
		return "is often wrong", "check all that it does"
	default:
		return "not fit for work in a project", "choose another"
	}
}

// Useful reports whether the model reaches enough goals to work with it.
func (f Finding) Useful() bool { return max(f.Reads.Rate(), f.Changes.Rate()) >= sometimes }

// Expect says in a few words what a user may expect of the model: "reads and answers;
// changes need your eye".
func (f Finding) Expect() string {
	can, mind := f.expect()
	return can + "; " + mind
}

// Brief says the same in two parts for a list of models: "reads and answers" and "17 of
// 24 goals".
func (f Finding) Brief() []string {
	can, _ := f.expect()
	return []string{can, f.Goals().String() + " goals"}
}

// Exported returns the finding as others can use it: without the server.
func (f Finding) Exported() Finding {
	f.Server, f.Digest, f.Source = "", "", ""
	return f
}

// Record is what the record of a run holds of the finding whose settings drove it.
type Record struct {
	Source   Source    `json:"source"`
	Settings Settings  `json:"settings"`
	Measured time.Time `json:"measured"`
}

// Record returns the record of a finding; nil if there is none, or if it was set rather
// than measured.
func (f *Finding) Record() *Record {
	if f == nil || f.Source == "" {
		return nil
	}
	return &Record{f.Source, f.Settings, f.Measured}
}

// Finding returns a finding with the settings of the record and no counts; nil of none.
func (r *Record) Finding() *Finding {
	if r == nil {
		return nil
	}
	return &Finding{Source: r.Source, Settings: r.Settings, Measured: r.Measured}
}

// String describes the record: "short plans, no agents; measured on 2026-11-29".
func (r Record) String() string {
	words := map[Source]string{SourceMeasured: "measured", SourceLoaded: "loaded, measured", SourceBuiltIn: "built in, measured"}[r.Source]
	return fmt.Sprintf("%s; %s on %s", r.Settings, words, r.Measured.Format(time.DateOnly))
}

// Table is a set of findings.
type Table []Finding

//go:embed measured.json
var builtIn []byte

// BuiltIn returns the findings that were measured for this version. The table holds no
// others: nothing in it is a guess.
func BuiltIn() (Table, error) {
	table, err := Decode(builtIn)
	if err != nil {
		return nil, fmt.Errorf("read the built-in findings: %w", err)
	}
	for i := range table {
		table[i].Source = SourceBuiltIn
	}
	return table, nil
}

// tableVersion is the version of the file format of a table.
const tableVersion = 1

// tableFile is the form of a file of findings.
type tableFile struct {
	V        int   `json:"v"`
	Findings Table `json:"findings"`
}

// Encode returns a table as a file that [Decode] reads.
func (t Table) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(tableFile{V: tableVersion, Findings: append(Table{}, t...)}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write findings: %w", err)
	}
	return append(data, '\n'), nil
}

// Decode reads a file of findings. The error says what is wrong with it.
func Decode(data []byte) (Table, error) {
	var file tableFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("this is no file of replan fit --export: %w", err)
	}
	if file.V != tableVersion {
		return nil, fmt.Errorf("this file has version %d, and this replan reads version %d: export it again", file.V, tableVersion)
	}
	for i, f := range file.Findings {
		if err := f.check(); err != nil {
			return nil, fmt.Errorf("finding %d: %w", i+1, err)
		}
	}
	return file.Findings, nil
}

// check returns what is wrong with a finding of a file.
func (f Finding) check() error {
	switch {
	case f.Source == SourceMeasured && (f.Server == "" || f.Digest == ""):
		return errors.New("it names no model of a server")
	case f.Source != SourceMeasured && f.Weights == "":
		return errors.New("it names no weights of a model")
	case f.Goals().Of == 0:
		return errors.New("no goal was tried")
	case !f.Plans.possible() || !f.Reads.possible() || !f.Changes.possible() || !f.Agents.possible():
		return errors.New("more was reached than was tried")
	case f.Settings.Think != "" && f.Settings.Think != ThinkOff:
		return fmt.Errorf("think is %q, and may be %q or missing", f.Settings.Think, ThinkOff)
	default:
		return nil
	}
}

// Of returns the finding that holds for a model on a server. It is the one measured there,
// else a loaded one for its weights, else the built-in one. Times of another machine are
// left out. A model without a digest or weights has none: [Decode] refuses findings
// without.
func (t Table) Of(server, digest string, weights untrusted.Text) (Finding, bool) {
	for _, f := range t {
		if f.Source == SourceMeasured && f.Server == server && f.Digest == digest {
			return f, true
		}
	}
	for _, source := range []Source{SourceLoaded, SourceBuiltIn} {
		for _, f := range t {
			if f.Source == source && f.Weights == weights {
				f.Speed, f.GoalMS = pace.Speed{}, 0
				return f, true
			}
		}
	}
	return Finding{}, false
}

// With returns the table with a finding in place of the one of the same source and
// model.
func (t Table) With(f Finding) Table {
	same := func(g Finding) bool {
		if f.Source == SourceMeasured {
			return g.Source == f.Source && g.Server == f.Server && g.Digest == f.Digest
		}
		return g.Source == f.Source && g.Weights == f.Weights
	}
	return append(slices.DeleteFunc(slices.Clone(t), same), f)
}

package tools

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"replan/agent/rule"
	"replan/cli/app"
	"replan/cli/args"
	"replan/cli/exit"
	"replan/cli/toolschema"
	"replan/planning/plan"
	"replan/tui/plain"
	"replan/tui/wording"
)

// showOptions are the options of replan tools show.
type showOptions struct{ app *app.App }

func newShow(a *app.App) *cobra.Command {
	o := showOptions{a}
	return &cobra.Command{
		Use:   "show NAME",
		Short: "Show what a tool does, its arguments, its result and whether it asks",
		Long: "show NAME describes a tool: its arguments, the fields of its result if its server names them, the rules that\n" +
			"decide whether a call asks, and an example. With --output json it prints the schemas.",
		Example: "  replan tools show fs.search\n  replan tools show vcs.commit --output json",
		Args:    args.Shell(args.One("NAME")),
		RunE: func(cmd *cobra.Command, names []string) error {
			return withCatalog(cmd.Context(), a, names[0], func(_ *app.Services, catalog plan.Catalog) error {
				t, err := catalog.Find(names[0])
				if err != nil {
					return &exit.Error{Status: exit.BadUsage, Code: plan.CodeUnknownTool, Err: err}
				}
				return o.run(t)
			})
		},
	}
}

// contentShape is the value of a step whose tool does not describe its result.
const contentShape = `text, or JSON if the text is an object or array
with pictures or other files: {"text": "…", "files": [{"file", "type", "bytes", "sha256"}]}`

// run prints what a tool does.
func (o showOptions) run(t plan.Tool) error {
	out := o.app.Out()
	line, rules := lineOf(o.app.Gates(), t), []string{}
	for _, r := range rule.Matching(rulesHere(o.app.Gates()), t) {
		rules = append(rules, wording.RuleWords(r))
	}
	if out.JSON() {
		return out.PrintJSON(struct {
			toolLine
			Rules        []string        `json:"rules"`
			InputSchema  json.RawMessage `json:"input_schema,omitempty"`
			OutputSchema json.RawMessage `json:"output_schema,omitempty"`
		}{line, rules, t.InputSchema, t.OutputSchema})
	}
	args := toolschema.Fields(t.InputSchema)
	example := "replan tools call " + t.Name
	if given := toolschema.Example(args, string(t.Description)); len(given) > 0 {
		example += " --args '" + plan.CanonicalJSON(given) + "'"
	}
	return out.Lines(func(p *plain.Printer) {
		p.Line("%s  %s", p.Strong(t.Name), p.Faint("(server %s)", t.Server))
		p.Line("%s", t.Description)
		p.Heading("arguments")
		o.writeFields(p, args)
		p.Heading("result")
		if len(t.OutputSchema) > 0 {
			o.writeFields(p, toolschema.Results(t.OutputSchema))
		} else {
			p.Block("  ", contentShape, 0)
		}
		p.Line("")
		for i, r := range rules {
			if i == 0 {
				p.Fields(plain.Field{Name: "policy", Value: r})
				continue
			}
			p.Line("        %s", r)
		}
		p.Fields(plain.Field{Name: "example", Value: example})
	})
}

// writeFields prints the fields of a schema: as a table, or on a terminal in lines
// that can be broken.
func (o showOptions) writeFields(p *plain.Printer, fields []toolschema.Field) {
	if o.app.Out().Terminal() == nil || len(fields) == 0 {
		p.Block("", toolschema.Table(fields), 0)
		return
	}
	for _, f := range fields {
		kind := strings.TrimSuffix(f.Type+", "+f.Need(), ", ")
		if f.Description == "" {
			p.Line("  %s %s", p.Strong(f.Name+":"), p.Faint("%s", kind))
			continue
		}
		p.Line("  %s %s  %s", p.Strong(f.Name+":"), f.Description, p.Faint("(%s)", kind))
	}
}

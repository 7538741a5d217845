package prompt

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"replan/planning/plan"
	"replan/planning/reply"
	"replan/planning/retrieval"
)

// schema is the part of JSON Schema that Ollama can turn into a grammar. Its
// fields and properties keep their order, since a model writes them in the order
// of the schema: decisive ones come first.
type schema struct {
	Type       any // a name or a list of names
	Enum       []any
	Properties properties
	Required   []string
	Items      *schema
	Places     []schema
	MaxItems   int
	MaxLength  int    // of a text, in characters
	Comment    string // see paddedFormat
	AnyOf      []schema
}

// properties are the fields of an object, in order.
type properties []property

type property struct {
	name   string
	schema schema
}

var (
	textSchema   = schema{Type: "string"}
	flagSchema   = schema{Type: "boolean"}
	objectSchema = schema{Type: "object"}
)

func texts(most int) schema {
	item := textSchema
	return schema{Type: "array", Items: &item, MaxItems: most}
}

func choice(words ...string) schema {
	s := schema{Type: "string"}
	for _, word := range words {
		s.Enum = append(s.Enum, word)
	}
	return s
}

// maxStepSchema bounds the schema of one step, in bytes: the built-in operators take 15 KB, a
// typical tool of another server 700 bytes. Ollama compiles 60 forms in 42 ms and 92, the most
// of that size, in 59. Shared parts by reference would save a tenth of that. A form of their
// own for the args of all tools would save half of it. But then a model may write a tool with
// the args of another. What remains is the journal, which holds the format of each request.
const maxStepSchema = 48 << 10

// stepsSchema is the list of steps of a plan: it can only name existing tools and
// agents, and is no longer than the limit.
func stepsSchema(tools planTools, most int) schema {
	if tools.small {
		const fewer = 10 // a small model fills what room there is
		most = min(cmp.Or(most, fewer), fewer)
	}
	return schema{Type: "array", Items: &tools.step, MaxItems: most}
}

// stepForm is one form that a step may have. Its fields come in the order in which a step
// is understood best while it streams in. A server's grammar has the required ones first.
// reads says that the step only reads. A small model writes the index, the title, the call
// and its dependencies alone.
func stepForm(executors schema, reads, small bool, fields ...property) schema {
	calls := slices.ContainsFunc(fields, func(p property) bool { return p.name == "tool" })
	form := properties{{"index", textSchema}, {"title", textSchema}}
	if !small || !calls {
		form = append(form, property{"executor", executors})
	}
	form = append(form, fields...)
	if !small {
		form = append(form, property{"for_each", textSchema}, property{"when", textSchema})
	}
	form = append(form, property{"depends_on", texts(0)})
	if !small {
		form = append(form, property{"result_variable", textSchema}, property{"expected_outcome", textSchema}, property{"synthesize", flagSchema})
	}
	required := []string{"index", "title"}
	// A tool says who carries the step out: every token of a plan is waited for.
	if !calls {
		required = append(required, "executor")
	}
	for _, field := range fields {
		// Without args a step is to be filled in later, and so it is with none of those
		// that the tool requires. One that takes none needs none.
		if none := field.schema.Properties != nil && len(field.schema.Properties) == 0; !none {
			required = append(required, field.name)
		}
	}
	if required = append(required, "depends_on"); !reads && !small { // the title of what only reads says what it will show
		required = append(required, "expected_outcome")
	}
	return schema{Type: "object", Properties: form, Required: required}
}

// stepForms returns one form with arguments for each tool that fits, one form for
// all other tools, and one for each of the other executors. It also names the tools
// whose args may be any.
func stepForms(b Brief, matches []retrieval.Match, named []string) (step schema, without untypedTools) {
	var others []schema
	small := b.Prompting.Small
	if names := b.Prompting.ProfileNames(); len(names) > 0 {
		others = append(others, stepForm(choice(string(plan.ExecutorAgent)), false, small, property{"profile", choice(names...)}))
	}
	if !small || len(matches) == 0 {
		others = append(others, stepForm(choice(string(plan.ExecutorSelf)), false, small))
	}
	forms, without := typed(matches, named, small, len(encodeSchema(schema{AnyOf: others})))
	if len(without.noRoom) > 0 {
		forms = append(forms, stepForm(choice(string(plan.ExecutorTool)), false, small, property{"tool", choice(without.noRoom...)}, property{"args", objectSchema}))
	}
	if forms = append(forms, others...); len(forms) == 1 {
		return forms[0], untypedTools{}
	}
	return schema{AnyOf: forms}, without
}

// analysisFormat is the format of phase 1.
func analysisFormat(b Brief, tools planTools) json.RawMessage {
	mode := choice(reply.ModeDirect, reply.ModePlan)
	if b.Prompting.ForcePlan {
		mode = choice(reply.ModePlan)
	}
	fields := properties{
		{"mode", mode},
		{"task", textSchema},
		{"goal", textSchema},
		{"unknowns", texts(8)},
		{"resources", texts(12)},
		{"knowledge", schema{Type: "object", Properties: properties{{"read", texts(8)}, {"keep", texts(8)}}, Required: []string{"read", "keep"}}},
		{"complexity", choice(reply.ComplexitySimple, reply.ComplexityMedium, reply.ComplexityComplex)},
		{"subtasks", texts(15)},
		{"reflect", flagSchema},
		{"steps", stepsSchema(tools, b.MaxSteps)},
	}
	if tools.acceptance != nil {
		fields = append(fields, property{"acceptance", *tools.acceptance})
	}
	return paddedFormat(schema{Type: "object", Properties: fields, Required: []string{"mode", "task", "goal", "complexity", "reflect"}})
}

// maxAcceptance is how many checks of the goal a planner may propose.
const maxAcceptance = 3

// acceptanceSchema is the list of checks of the goal: on the result of a tool that only
// reads, or on result variables.
func acceptanceSchema(readers []string) *schema {
	title, expect := property{"title", textSchema}, property{"expect", textSchema}
	check := schema{Type: "object", Properties: properties{title, expect}, Required: []string{"title", "expect"}}
	if len(readers) > 0 {
		called := schema{
			Type: "object", Properties: properties{title, {"tool", choice(readers...)}, {"args", objectSchema}, expect},
			Required: []string{"title", "tool", "args", "expect"},
		}
		check = schema{AnyOf: []schema{called, check}}
	}
	return &schema{Type: "array", Items: &check, MaxItems: maxAcceptance}
}

// planFormat is the format of phase 3, of a repair and of a replan; a replan that
// gives up may add a reason. A small model writes a title and steps.
func planFormat(tools planTools, most int, replan, small bool) json.RawMessage {
	s := schema{Type: "object", Properties: properties{{"title", textSchema}}, Required: []string{"title", "steps"}}
	if replan {
		s.Properties = append(s.Properties, property{"reason", textSchema})
	}
	s.Properties = append(s.Properties, property{"steps", stepsSchema(tools, most)})
	if !replan {
		// They come last, so that no step waits for them, and may be left out.
		if tools.acceptance != nil {
			s.Properties = append(s.Properties, property{"acceptance", *tools.acceptance})
		}
		if small {
			return paddedFormat(s)
		}
		milestone := schema{Type: "object", Properties: properties{{"title", textSchema}, {"steps", texts(0)}}, Required: []string{"title", "steps"}}
		s.Properties = append(s.Properties, property{"milestones", schema{Type: "array", Items: &milestone, MaxItems: 5}}, property{"risks", texts(5)})
	}
	return paddedFormat(s)
}

// encodeSchema writes a schema as JSON in one pass: methods MarshalJSON would have
// encoding/json read each level again.
func encodeSchema(s schema) json.RawMessage { return s.appendTo(nil) }

func (s schema) appendTo(b []byte) []byte {
	start := len(b)
	field := func(name, value string) {
		b = append(b, `,"`+name+`":`+value...)
	}
	if s.Type != nil {
		field("type", plan.CanonicalJSON(s.Type))
	}
	if len(s.Enum) > 0 {
		field("enum", plan.CanonicalJSON(s.Enum))
	}
	if s.Properties != nil {
		field("properties", "")
		b = s.Properties.appendTo(b)
	}
	if len(s.Required) > 0 {
		field("required", plan.CanonicalJSON(s.Required))
	}
	if s.Items != nil {
		field("items", "")
		b = s.Items.appendTo(b)
	}
	if len(s.Places) > 0 {
		field("prefixItems", "")
		b = appendSchemas(b, s.Places)
	}
	if s.MaxItems != 0 {
		field("maxItems", strconv.Itoa(s.MaxItems))
	}
	if s.MaxLength != 0 {
		field("maxLength", strconv.Itoa(s.MaxLength))
	}
	if s.Comment != "" {
		field("$comment", plan.CanonicalJSON(s.Comment))
	}
	if len(s.AnyOf) > 0 {
		field("anyOf", "")
		b = appendSchemas(b, s.AnyOf)
	}
	return closed(b, start, '{', '}')
}

// appendTo writes the properties as one object, in their order. A name written
// before is left out.
func (p properties) appendTo(b []byte) []byte {
	start := len(b)
	seen := make(map[string]bool, len(p))
	for _, field := range p {
		if !seen[field.name] {
			seen[field.name] = true
			b = append(b, ","+plan.CanonicalJSON(field.name)+":"...)
			b = field.schema.appendTo(b)
		}
	}
	return closed(b, start, '{', '}')
}

func appendSchemas(b []byte, list []schema) []byte {
	start := len(b)
	for _, s := range list {
		b = s.appendTo(append(b, ','))
	}
	return closed(b, start, '[', ']')
}

// closed puts brackets around what was written from start on, each part of it
// after a comma.
func closed(b []byte, start int, open, end byte) []byte {
	if len(b) == start {
		return append(b, open, end)
	}
	b[start] = open
	return append(b, end)
}

package planning

import "encoding/json"

// schema is the part of JSON Schema that Ollama can turn into a grammar. Its
// fields and properties keep their order, since a model writes what it is held
// to in the order of the schema: what decides comes first.
type schema struct {
	Type       string     `json:"type"`
	Enum       []string   `json:"enum,omitempty"`
	Properties properties `json:"properties,omitempty"`
	Required   []string   `json:"required,omitempty"`
	Items      *schema    `json:"items,omitempty"`
	MaxItems   int        `json:"maxItems,omitempty"`
}

// properties are the fields of an object, in order.
type properties []property

type property struct {
	name   string
	schema schema
}

// MarshalJSON writes the properties as one object, in their order.
func (p properties) MarshalJSON() ([]byte, error) {
	var w objectWriter
	for _, field := range p {
		w.add(field.name, field.schema)
	}
	return w.bytes()
}

var (
	textSchema = schema{Type: "string"}
	flagSchema = schema{Type: "boolean"}
)

func texts(most int) schema {
	item := textSchema
	return schema{Type: "array", Items: &item, MaxItems: most}
}

func choice(words ...string) schema { return schema{Type: "string", Enum: words} }

// stepsSchema is the list of steps that a plan may have: only tools that exist
// can be named, and no more steps given than there may be.
func stepsSchema(b Brief, most int) schema {
	step := schema{Type: "object", Properties: properties{
		{"index", textSchema},
		{"title", textSchema},
	}, Required: []string{"index", "title", "executor", "depends_on", "expected_outcome"}}
	if names := b.Catalogue.Names(); len(names) > 0 {
		step.Properties = append(step.Properties,
			property{"executor", choice(string(ExecutorTool), string(ExecutorSelf))},
			property{"tool", choice(names...)},
			property{"args", schema{Type: "object"}})
	} else {
		step.Properties = append(step.Properties, property{"executor", choice(string(ExecutorSelf))})
	}
	step.Properties = append(step.Properties,
		property{"depends_on", texts(0)},
		property{"result_variable", textSchema},
		property{"expected_outcome", textSchema})
	return schema{Type: "array", Items: &step, MaxItems: most}
}

// analysisFormat is what phase 1 answers.
func analysisFormat(b Brief) json.RawMessage {
	mode := choice(modeDirect, modePlan)
	if b.Prompting.ForcePlan {
		mode = choice(modePlan)
	}
	return encodeSchema(schema{Type: "object", Properties: properties{
		{"mode", mode},
		{"task", textSchema},
		{"goal", textSchema},
		{"unknowns", texts(8)},
		{"resources", texts(12)},
		{"knowledge", schema{Type: "object", Properties: properties{{"read", texts(8)}, {"keep", texts(8)}}, Required: []string{"read", "keep"}}},
		{"complexity", choice(complexitySimple, complexityMedium, complexityComplex)},
		{"subtasks", texts(15)},
		{"reflect", flagSchema},
		{"steps", stepsSchema(b, b.MaxSteps)},
	}, Required: []string{"mode", "task", "goal", "complexity", "reflect"}})
}

// planFormat is what phase 3, a repair and a replan answer; the last may give
// a reason, for when it gives up.
func planFormat(b Brief, most int, replan bool) json.RawMessage {
	s := schema{Type: "object", Properties: properties{{"title", textSchema}}, Required: []string{"title", "steps"}}
	if replan {
		s.Properties = append(s.Properties, property{"reason", textSchema})
	}
	s.Properties = append(s.Properties, property{"steps", stepsSchema(b, most)})
	return encodeSchema(s)
}

func encodeSchema(s schema) json.RawMessage {
	raw, err := EncodeJSON(s)
	if err != nil {
		// Text, numbers and lists of them can always be written as JSON.
		panic("encode a reply schema: " + err.Error())
	}
	return raw
}

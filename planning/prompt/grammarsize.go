package prompt

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"replan/planning/plan"
)

// Up to some version after 0.17, Ollama keeps only so much of the grammar that it makes of
// a format. That is four times the bytes of the format, and 32 KB at least. A grammar cut
// off kills the process of the model. Optional fields take far more room in a grammar than
// in a schema.
const (
	keptOfGrammar  = 4
	keptAtLeast    = 32 << 10
	grammarOfKinds = 1500 // bytes of the rules for texts, numbers and so on
)

// paddedFormat writes a schema as the format of a request, no shorter than a server
// needs to keep its whole grammar.
func paddedFormat(s schema) json.RawMessage {
	raw := encodeSchema(s)
	if rules, _ := s.rules(0); grammarOfKinds+rules > max(keptAtLeast, keptOfGrammar*len(raw)) {
		s.Comment = strings.Repeat(" ", (grammarOfKinds+rules)/keptOfGrammar-len(raw))
		raw = encodeSchema(s)
	}
	return raw
}

// rules returns how many bytes the rules of a schema take at most in a grammar. It also
// returns how long the name is by which others call it. Each part of a schema has a rule,
// named by the path to it; path is the length of that name.
func (s schema) rules(path int) (bytes, name int) {
	const head, primitive = 6, 8 // " ::= " and the end of the line; the longest name of a kind
	own := path + head
	switch {
	case len(s.AnyOf) > 0:
		for i, form := range s.AnyOf {
			more, called := form.rules(path + 1 + len(strconv.Itoa(i)))
			bytes, own = bytes+more, own+called+3
		}
	case len(s.Enum) > 0:
		own += 10
		for _, v := range s.Enum {
			own += quoted(plan.CanonicalJSON(v)) + 3
		}
	case len(s.Properties) > 0:
		own += 30
		for _, p := range s.Properties {
			value := path + 1 + len(p.name)
			more, called := p.schema.rules(value)
			pair, rest := value+3, value+5
			bytes += more + pair + head + quoted(strconv.Quote(p.name)) + 17 + called
			if slices.Contains(s.Required, p.name) {
				own += pair + 11
			} else {
				own += pair + rest + 8
				bytes += rest + head + pair + rest + 17
			}
		}
	case s.Items != nil:
		more, called := s.Items.rules(path + 5)
		bytes, own = more, own+2*called+40
	case len(s.Places) > 0:
		for i, place := range s.Places {
			more, called := place.rules(path + 7 + len(strconv.Itoa(i)))
			bytes, own = bytes+more, own+called+11
		}
	default:
		if s.MaxLength > 0 {
			return own + 40, path
		}
		kinds, several := s.Type.([]string)
		if !several && s.Type != "object" {
			return 0, primitive
		}
		own += primitive + len(kinds)*(primitive+3)
		if slices.Contains(kinds, "object") {
			own += 2*(path+2) + head + primitive
		}
	}
	return bytes + own, path
}

// quoted is how many bytes a text takes in quotes.
func quoted(text string) int {
	return len(text) + strings.Count(text, `"`) + strings.Count(text, `\`) + 2
}

package telling

import (
	"fmt"
	"slices"
	"strings"

	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// computed reports whether an argument carries no written text, only a change
// computed by the workspace's own operator. The gate shows the whole change.
func computed(p rule.Provenance, tools plan.Catalogue) bool {
	t, err := tools.Find(p.Tool)
	return err == nil && t.Trusted && t.Name == "code.transform" && !p.Written
}

// CarriesUntrustedText reports whether a call carries text that an outsider may
// have written.
func CarriesUntrustedText(from []rule.Provenance, tools plan.Catalogue) bool {
	return slices.ContainsFunc(from, func(p rule.Provenance) bool { return !computed(p, tools) })
}

// TextSource describes the source of text in a call.
type TextSource struct {
	Words    string
	Computed bool
}

// TextSources describes the sources of text in a call. It returns a sentence for
// each step whose result the arguments carry, and for each argument that a model
// wrote after reading results.
func TextSources(from []rule.Provenance, tools plan.Catalogue) []TextSource {
	var out []TextSource
	var steps, written []string
	carry := map[string][]string{} // step → arguments that carry its result
	own := map[string]bool{}       // step → whether its result is computed
	guessed := map[string]bool{}   // step → whether it is computed from words
	read := map[string][]string{}  // argument → steps read before it was written
	for _, p := range from {
		if p.Mention != "" {
			out = append(out, TextSource{Words: "a model wrote " + argWords(p.Arg) + " after reading " + untrusted.Line(p.Mention) + ", which your message mentions"})
			continue
		}
		step := StepWords(p.Step)
		if p.Tool != "" {
			step += " (" + untrusted.Line(p.Tool) + ")"
		}
		if !p.Written {
			if carry[step] == nil {
				steps = append(steps, step)
			}
			carry[step], own[step] = append(carry[step], argWords(p.Arg)), computed(p, tools)
			guessed[step] = guessed[step] || p.Words
			continue
		}
		if read[p.Arg] == nil {
			written = append(written, p.Arg)
		}
		read[p.Arg] = append(read[p.Arg], step)
	}
	for _, step := range steps {
		args, verb := carry[step], "carries"
		words := args[0]
		if last := len(args) - 1; last > 0 {
			words, verb = strings.Join(args[:last], ", ")+" and "+args[last], "carry"
		}
		if own[step] {
			words += " " + verb + " what was computed by " + step
			if guessed[step] {
				words += ": by words, may miss or match too much"
			}
		} else {
			words += " " + verb + " text from " + step + ", an untrusted result"
		}
		out = append(out, TextSource{words, own[step]})
	}
	for _, arg := range written {
		result := "result"
		if len(read[arg]) > 1 {
			result = "results"
		}
		out = append(out, TextSource{Words: fmt.Sprintf("a model wrote %s after reading the untrusted %s of %s", argWords(arg), result, strings.Join(read[arg], ", "))})
	}
	return out
}

// argWords names an argument; "" stands for all arguments.
func argWords(name string) string {
	if name == "" {
		return "the call"
	}
	return fmt.Sprintf("%q", name)
}

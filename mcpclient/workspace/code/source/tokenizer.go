package source

import (
	"slices"
	"sync"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// matchTime is how long a regular expression of a lexer may match, by the clock. After
// chroma's own limit of 250 ms its rule counts as one that does not match. A busy machine
// holds a thread up for longer than that. This limit is only for expressions that would
// never end; a match that comes near it is made again.
const matchTime = 10 * time.Second

// tokenizer returns the lexer of the language.
func (l Language) tokenizer() chroma.Lexer { return tokenizers().Get(l.lexer) }

// tokenizers holds chroma's lexers with matchTime as the limit of their matches.
// The few that combine other lexers, such as PHTML, keep chroma's limit. Each
// compiles its expressions on first use.
var tokenizers = sync.OnceValue(func() *chroma.LexerRegistry {
	registry := chroma.NewLexerRegistry()
	for _, l := range lexers.GlobalLexerRegistry.Lexers {
		if of, ok := l.(*chroma.RegexLexer); ok {
			registry.Register(chroma.MustNewLexer(of.Config(), func() chroma.Rules {
				rules := of.MustRules().Clone()
				rules["root"] = append(rules["root"], chroma.Rule{Mutator: patience{}})
				return rules
			}))
		} else {
			registry.Register(sharedLexer{l})
		}
	}
	return registry
})

// sharedLexer is a lexer that other registries have too.
type sharedLexer struct{ chroma.Lexer }

// SetRegistry leaves the lexer in the registry that it has.
func (s sharedLexer) SetRegistry(*chroma.LexerRegistry) chroma.Lexer { return s }

// patience is a rule that takes itself out of a lexer when its expressions are
// compiled, and gives them matchTime.
type patience struct{}

// Mutate is never called.
func (patience) Mutate(*chroma.LexerState) error { return nil }

// MutateLexer implements [chroma.LexerMutator].
func (patience) MutateLexer(rules chroma.CompiledRules, state string, rule int) error {
	rules[state] = slices.Delete(rules[state], rule, rule+1)
	for _, list := range rules {
		for _, r := range list {
			r.Regexp.MatchTimeout = matchTime
		}
	}
	return nil
}

package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"replan/internal/english"
	"replan/internal/lazyregexp"
	"replan/mcpclient/workspace/grep"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
)

const (
	defaultMatches = 200
	mostContext    = 20
)

type searchArgs struct {
	Query      string `json:"query" jsonschema:"text to find, or a regular expression if regex is true"`
	Path       string `json:"path,omitempty" jsonschema:"folder or file to search in; default: the whole workspace"`
	Regex      bool   `json:"regex,omitempty" jsonschema:"read query as a regular expression (RE2)"`
	IgnoreCase bool   `json:"ignore_case,omitempty" jsonschema:"ignore case"`
	Words      bool   `json:"words,omitempty" jsonschema:"read query as words: find lines of files that contain all of them, in any order and form, best first"`
	Glob       string `json:"glob,omitempty" jsonschema:"search only files of this pattern, like *.go or internal/**/*.ts"`
	Context    int    `json:"context,omitempty" jsonschema:"how many lines to show before and after each match; default: none"`
	Max        int    `json:"max,omitempty" jsonschema:"how many matches to return; default: 200"`
}

// searcher searches the text of files.
type searcher struct {
	tree      *tree.Tree
	maxOutput int
}

func (o *searcher) search(ctx context.Context, _ op.Call, args searchArgs) (*op.Answer[grep.Result], error) {
	switch {
	case args.Query == "":
		return nil, errors.New("the argument query of fs.search is empty; name the text to find")
	case !args.Regex && strings.ContainsAny(args.Query, "\n\r"):
		return nil, errors.New("fs.search looks line by line, so query cannot hold the end of a line")
	case args.Max < 0:
		return nil, fmt.Errorf("the argument max of fs.search must be 1 or more, not %d", args.Max)
	case args.Context < 0 || args.Context > mostContext:
		return nil, fmt.Errorf("the argument context of fs.search must be from 0 to %d, not %d", mostContext, args.Context)
	}
	var asked wordSearch
	if args.Words {
		var err error
		if asked, err = newWordSearch(args); err != nil {
			return nil, err
		}
		args.Query, args.Regex, args.IgnoreCase = asked.query(), true, true
	}
	find, err := grep.NewFinder(args.Query, args.Regex, args.IgnoreCase)
	if err != nil {
		return nil, err
	}
	only, err := tree.NewGlob(o.wholeGlob(args.Glob))
	if err != nil {
		return nil, err
	}
	start, within := ".", tree.Glob{}
	pattern, several := o.tree.Pattern(args.Path)
	if several {
		within = pattern
	} else if start, err = o.tree.ScopeOf(ctx, args.Path); err != nil {
		return nil, err
	}
	most := defaultMatches
	if args.Max > 0 {
		most = min(args.Max, grep.MostMatches)
	}
	limit := most
	if args.Words {
		limit = grep.MostMatches // the best matches are selected from these
	}
	s := grep.Search{Find: find, Context: args.Context, Limit: limit, Size: o.maxOutput}
	wanted := func(at string, d fs.DirEntry) bool {
		return d.Type().IsRegular() && (args.Glob == "" || only.Match(at)) && (!several || within.Match(at))
	}
	if err := s.Run(ctx, o.tree, start, wanted); err != nil {
		return nil, fmt.Errorf("searching %s: %w", start, err)
	}
	result := s.Result()
	if args.Words {
		result = asked.rank(result, most)
	}
	if result.Total == 0 && !args.Words {
		if err := o.look(ctx, &result, args, start, wanted); err != nil {
			return nil, err
		}
	}
	return op.Reply(result, result.String()), nil
}

// look adds what a search without a match may have meant. A query that is clearly a
// regular expression is read as one. Lines that differ only in case are near: they do
// not count.
func (o *searcher) look(ctx context.Context, result *grep.Result, args searchArgs, start string, wanted func(string, fs.DirEntry) bool) error {
	run := func(regex, fold bool, limit int) (grep.Result, error) {
		find, err := grep.NewFinder(args.Query, regex, fold)
		if err != nil {
			return grep.Result{}, nil //nolint:nilerr // it is no expression
		}
		s := grep.Search{Find: find, Context: args.Context, Limit: limit, Size: o.maxOutput}
		if err := s.Run(ctx, o.tree, start, wanted); err != nil {
			return grep.Result{}, fmt.Errorf("searching %s: %w", start, err)
		}
		return s.Result(), nil
	}
	if !args.Regex && isExpression(args.Query) {
		limit := defaultMatches
		if args.Max > 0 {
			limit = min(args.Max, grep.MostMatches)
		}
		found, err := run(true, args.IgnoreCase, limit)
		if err != nil || found.Total > 0 {
			found.Note = "no line holds this text as it stands; it was read as a regular expression"
			*result = found
			return err
		}
	}
	if args.IgnoreCase {
		return nil
	}
	const near = 10 // lines
	found, err := run(args.Regex, true, near)
	if err != nil || found.Total == 0 {
		return err
	}
	result.Near, result.Note = found.Matches, fmt.Sprintf("nothing matches in this case; ignore_case finds %s", english.Count(found.Total, "line"))
	return nil
}

// expressionSign matches what stands in regular expressions and hardly in code.
var expressionSign = lazyregexp.New(`\.[*+]|\\[bBdDsSwW]|\[\^?[a-zA-Z0-9]-[a-zA-Z0-9]|^\^\w|\w\$$|^[\w .-]+(?:\|[\w .-]+)+$|\w\?:|\(\?`)

// isExpression reports whether a query was most likely meant as a regular expression.
func isExpression(query string) bool { return expressionSign.MatchString(query) }

// wholeGlob is a glob as it was meant: a folder with all in it, an ending with its
// names, and several patterns in one.
func (o *searcher) wholeGlob(glob string) string {
	switch at, err := o.tree.Resolve(strings.TrimSuffix(glob, "/")); {
	case glob == "" || strings.ContainsAny(glob, "*?[{") && !strings.Contains(glob, ","):
		return glob
	case strings.Contains(glob, ",") && !strings.Contains(glob, "{"):
		return "{" + strings.ReplaceAll(glob, ", ", ",") + "}"
	case err == nil && at != "." && o.isFolder(at):
		return at + "/**"
	case strings.HasPrefix(glob, ".") && !strings.Contains(glob, "/") && (err != nil || !o.isFile(at)):
		return "*" + glob
	default:
		return glob
	}
}

func (o *searcher) isFolder(at string) bool {
	info, err := o.tree.Root.Stat(at)
	return err == nil && info.IsDir()
}

func (o *searcher) isFile(at string) bool {
	info, err := o.tree.Root.Stat(at)
	return err == nil && info.Mode().IsRegular()
}

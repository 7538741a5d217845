package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

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

func (o *Operators) search(ctx context.Context, _ op.Call, args searchArgs) (*op.Answer[grep.Result], error) {
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
	only, err := tree.NewGlob(args.Glob)
	if err != nil {
		return nil, err
	}
	start := "."
	if args.Path != "" {
		if start, err = o.tree.Resolve(args.Path); err != nil {
			return nil, err
		}
		if _, err := o.tree.Root.Stat(start); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no file or folder %q in the workspace", start)
		}
	}
	s := grep.Search{Find: find, Context: args.Context, Limit: defaultMatches, Size: o.maxOutput}
	if args.Max > 0 {
		s.Limit = min(args.Max, grep.MostMatches)
	}
	most := s.Limit
	if args.Words {
		s.Limit = grep.MostMatches // the best matches are selected from these
	}
	wanted := func(at string, d fs.DirEntry) bool {
		return d.Type().IsRegular() && (args.Glob == "" || only.Match(at))
	}
	if err := s.Run(ctx, o.tree, start, wanted); err != nil {
		return nil, fmt.Errorf("searching %s: %w", start, err)
	}
	result := s.Result()
	if args.Words {
		result = asked.rank(result, most)
	}
	return op.Reply(result, result.String()), nil
}

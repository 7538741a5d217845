package cli_test

import (
	"strings"
	"testing"

	"replan/mcpclient/box"
)

// A repository that a program made is reported after its call, unless runs work in a copy.
func TestRepositoryThatAnIsolatedProgramMadeIsTold(t *testing.T) {
	t.Parallel()
	if _, err := box.Supported(); err != nil {
		t.Skip(err)
	}
	for _, flags := range [][]string{{"--in-place"}, nil} {
		folder := t.TempDir()
		write(t, folder+"/make.json", `{"id":"make-1","title":"Make","steps":[{"index":"1","title":"Make","tool":"proc.run","args":{"shell":"mkdir -p deep/er/.git && echo > deep/er/.git/config"}}]}`)
		s := open(t, program{folder: folder, home: t.TempDir(), args: append([]string{"plan", "run", "make.json", "--plain", "--approve", "all", "--isolate"}, flags...)})
		out := strings.Join(strings.Fields(s.end(0)), " ")
		if told := strings.Count(out, "the repository deep/er/.git appeared"); told > 1 || (told == 1) != (flags != nil) {
			t.Errorf("%v: told %d times in\n%s", flags, told, out)
		}
	}
}

//go:build unix

package code_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/code/lsp"
)

// silent is a language server that starts, and answers no question.
const silent = `head -c 1 >/dev/null; printf 'Content-Length: 53\r\n\r\n{"jsonrpc":"2.0","id":1,"result":{"capabilities":{}}}'; exec sleep 1000`

// The answer of the type checker says that the language server gave none in time.
func TestLanguageServerThatDoesNotAnswerIsNamed(t *testing.T) {
	for operator, given := range map[string]args{
		"code.references": {"symbol": "Total"},
		"code.transform":  {"kind": "rename", "symbol": "Total", "new_name": "Sum"},
	} {
		t.Run(operator, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, workspace.Config{Servers: &lsp.Config{Commands: map[string][]string{"go": {"sh", "-c", silent}}, Trusted: true, Patience: 10 * time.Millisecond}})
			b.Write(t, map[string]string{"go.mod": "module example.test/sum\n\ngo 1.24\n", "a.go": "package sum\n\nfunc Total() int { return 1 }\n\nvar _ = Total()\n"})
			answer := b.Must(t, operator, given).Data
			note := fmt.Sprint(answer["note"])
			if answer["by"] != "types" || !strings.HasPrefix(note, "The language server did not answer: gopls did not answer ") || !strings.Contains(note, "it took longer than 10ms") {
				t.Errorf("got %v by %v", note, answer["by"])
			}
		})
	}
}

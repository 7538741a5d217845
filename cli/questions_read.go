package cli

import (
	"bufio"
	"context"
	"io"
	"os"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/muesli/cancelreader"
)

// quietTime is how long nobody may have typed before a question is put. What was
// meant for something else answers nothing, as with the dialogs of the screen.
const quietTime = 400 * time.Millisecond

// longestLine bounds a line that is typed, in bytes: arguments may be long.
const longestLine = 4 << 20

// prompter reads what is typed in answer to the questions of the line log. All of
// them go through ask, so that none is answered by what was typed before it.
type prompter struct {
	input cancelreader.CancelReader
	lines *bufio.Scanner
	ahead typedAhead              // nil where the input is no terminal
	quiet func() <-chan time.Time // delivers when quietTime has passed
	ended chan struct{}           // closed when nobody is to be asked any more
}

// typedAhead is what a terminal holds that nobody has read yet.
type typedAhead interface {
	waits() bool // a whole line is there
	drop()
}

// newPrompter reads answers from in. What reads on from in cancels it first.
func newPrompter(in io.Reader) (*prompter, error) {
	input, err := cancelreader.NewReader(in)
	if err != nil {
		return nil, wrap("read standard input", err)
	}
	p := &prompter{input: input, quiet: func() <-chan time.Time { return time.After(quietTime) }, ended: make(chan struct{})}
	p.lines = p.scanner()
	if file, ok := in.(*os.File); ok && term.IsTerminal(file.Fd()) {
		p.ahead = terminalInput(file.Fd())
	}
	return p, nil
}

func (p *prompter) scanner() *bufio.Scanner {
	lines := bufio.NewScanner(p.input)
	lines.Buffer(nil, longestLine)
	return lines
}

// ask drops what was typed so far, waits until nobody types, has put put the
// question and returns the line that answers it. There is none where put reports
// that it need not be asked any more, where the input has ended or was cancelled.
func (p *prompter) ask(put func() bool) (line string, answered bool) {
	if p.ahead != nil {
		p.lines = p.scanner()
		for p.ahead.drop(); ; p.ahead.drop() {
			select {
			case <-p.quiet():
			case <-p.ended:
				return "", false
			}
			if !p.ahead.waits() {
				break
			}
		}
		p.ahead.drop() // the beginning of a line, which cannot be seen
	}
	if !put() || !p.lines.Scan() {
		return "", false
	}
	return p.lines.Text(), true
}

// over reports whether nobody is to be asked any more.
func (p *prompter) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// cancel ends the question that is open, and all later ones. Once is enough.
func (p *prompter) cancel() {
	close(p.ended)
	p.input.Cancel()
}

// askIn is ask until ctx ends.
func (p *prompter) askIn(ctx context.Context, put func() bool) (line string, answered bool, err error) {
	release := context.AfterFunc(ctx, p.cancel)
	line, answered = p.ask(put)
	if !release() {
		return "", false, context.Cause(ctx)
	}
	return line, answered, nil
}

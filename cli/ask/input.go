package ask

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

// Input reads what is typed in answer to the questions of the line log. All of
// them go through ask, so that none is answered by what was typed before it.
type Input struct {
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

// NewInput reads answers from in. What reads on from in cancels it first.
func NewInput(in io.Reader) (*Input, error) {
	input, err := cancelreader.NewReader(in)
	if err != nil {
		return nil, err
	}
	p := &Input{input: input, quiet: func() <-chan time.Time { return time.After(quietTime) }, ended: make(chan struct{})}
	p.lines = p.scanner()
	if file, ok := in.(*os.File); ok && term.IsTerminal(file.Fd()) {
		p.ahead = terminalInput(file.Fd())
	}
	return p, nil
}

func (p *Input) scanner() *bufio.Scanner {
	lines := bufio.NewScanner(p.input)
	lines.Buffer(nil, longestLine)
	return lines
}

// ask drops what was typed so far, waits until nobody types, has put put the
// question and returns the line that answers it. There is none where put reports
// that it need not be asked any more, where the input has ended or was cancelled.
func (p *Input) ask(put func() bool) (line string, answered bool) {
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
func (p *Input) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// cancel ends the question that is open, and all later ones. Once is enough.
func (p *Input) cancel() {
	close(p.ended)
	p.input.Cancel()
}

// AskIn has put put a question and returns the line that answers it, or why ctx
// has ended before.
func (p *Input) AskIn(ctx context.Context, put func() bool) (line string, answered bool, err error) {
	release := context.AfterFunc(ctx, p.cancel)
	line, answered = p.ask(put)
	if !release() {
		return "", false, context.Cause(ctx)
	}
	return line, answered, nil
}

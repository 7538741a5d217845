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

// quietTime is how long the user must not have typed before a question appears.
// As in the dialogs of the screen, keys meant for something else then answer
// nothing.
const quietTime = 400 * time.Millisecond

// longestLine is the maximum length of a typed line in bytes; arguments may be
// long.
const longestLine = 4 << 20

// Input reads the answers to the questions of the line log. All reads go through
// ask, so that no earlier input answers a question.
type Input struct {
	input cancelreader.CancelReader
	lines *bufio.Scanner
	ahead typedAhead              // nil if the input is not a terminal
	quiet func() <-chan time.Time // fires after quietTime
	ended chan struct{}           // closed when no more questions may be asked
}

// typedAhead is the unread input of a terminal.
type typedAhead interface {
	waits() bool // reports whether a complete line is pending
	drop()
}

// NewInput reads answers from in. Before others read from in, they must call
// cancel.
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

// ask drops pending input, waits until the user stops typing, calls put to show
// the question and returns the answer line. answered is false if put reports that
// the question is obsolete, or if the input has ended or was canceled.
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
		p.ahead.drop() // an incomplete line, which waits cannot detect
	}
	if !put() || !p.lines.Scan() {
		return "", false
	}
	return p.lines.Text(), true
}

// over reports whether no more questions may be asked.
func (p *Input) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// cancel ends the open question and all later ones. It may be called once.
func (p *Input) cancel() {
	close(p.ended)
	p.input.Cancel()
}

// AskIn calls put to show a question and returns the answer line, or an error if
// ctx ends first.
func (p *Input) AskIn(ctx context.Context, put func() bool) (line string, answered bool, err error) {
	release := context.AfterFunc(ctx, p.cancel)
	line, answered = p.ask(put)
	if !release() {
		return "", false, context.Cause(ctx)
	}
	return line, answered, nil
}

package ask

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/term"
	"github.com/muesli/cancelreader"

	"replan/internal/untrusted"
	"replan/tui/draw"
)

// QuietTime is how long the user must not have typed before a question appears.
// As in the dialogs of the screen, keys meant for something else then answer
// nothing.
const QuietTime = 400 * time.Millisecond

// longestLine is the maximum length of a typed line in bytes; arguments may be
// long.
const longestLine = 4 << 20

// Input reads the answers to the questions of the line log. All reads go through
// ask, so that no earlier input answers a question.
type Input struct {
	mu      sync.Mutex
	input   cancelreader.CancelReader
	skipped bool // input was canceled for one question alone

	lines *bufio.Scanner
	ahead typedAhead              // nil if the input is not a terminal
	quiet func() <-chan time.Time // fires after the pause given to NewInput
	ended chan struct{}           // closed when no more questions may be asked
	end   sync.Once               // closes it
	tty   *os.File                // nil if the input is not a terminal
}

// typedAhead is the unread input of a terminal.
type typedAhead interface {
	waits() bool // reports whether a complete line is pending
	drop()
}

// NewInput reads answers from in. A question waits until nothing was typed for the
// time quiet, see [QuietTime]. Before others read from in, they must call cancel.
func NewInput(in io.Reader, quiet time.Duration) (*Input, error) {
	input, err := cancelreader.NewReader(in)
	if err != nil {
		return nil, err
	}
	p := &Input{input: input, quiet: func() <-chan time.Time { return time.After(quiet) }, ended: make(chan struct{})}
	p.lines = p.scanner()
	if file, ok := in.(*os.File); ok && term.IsTerminal(file.Fd()) {
		p.ahead, p.tty = terminalInput(file.Fd()), file
	}
	return p, nil
}

// onTerminal reports whether the input is a terminal.
func (p *Input) onTerminal() bool { return p.tty != nil }

func (p *Input) scanner() *bufio.Scanner {
	lines := bufio.NewScanner(p.input)
	lines.Buffer(nil, longestLine)
	return lines
}

// ask drops pending input and waits until the user stops typing. Then it calls put to show
// the question, and reads the answer. That is a line, or one key if keys is set and the
// terminal can deliver it. answered is false if put reports that the question is obsolete,
// or if the input has ended or was canceled.
func (p *Input) ask(keys bool, put func() bool) (line string, keyed, answered bool) {
	p.renew()
	if keys && p.tty != nil {
		restore, ok := singleKeys(p.tty.Fd())
		if keyed = ok; ok {
			defer restore()
		}
	}
	if p.ahead != nil {
		p.lines = p.scanner()
		for p.ahead.drop(); ; p.ahead.drop() {
			select {
			case <-p.quiet():
			case <-p.ended:
				return "", keyed, false
			}
			if !p.ahead.waits() {
				break
			}
		}
		p.ahead.drop() // an incomplete line, which waits cannot detect
	}
	if !put() {
		return "", keyed, false
	}
	var err error
	switch {
	case keyed:
		line, err = p.key()
	case p.lines.Scan():
		line = p.lines.Text()
	default:
		err = cmp.Or(p.lines.Err(), io.EOF)
	}
	if err != nil && p.terminalClosed(err) {
		p.cancel()
	}
	return line, keyed, err == nil
}

// terminalClosed reports whether a read failed because the terminal was closed. That is no
// answer, unlike the end of input; a signal then stops the program.
func (p *Input) terminalClosed(err error) bool {
	if p.tty == nil {
		return false
	}
	_, stateErr := term.GetState(p.tty.Fd())
	return stateErr != nil || errors.Is(err, syscall.EIO)
}

// key reads one key; enter is the empty string. A line that arrives in one piece is an
// answer too, as from a program. Keys without a letter and other text that arrives in
// one piece, such as a paste of several lines, are none.
func (p *Input) key() (key string, err error) {
	const endOfInput = "\x04" // ctrl+d
	piece := make([]byte, 256)
	for {
		n, err := p.input.Read(piece)
		if err != nil || n == 0 {
			return "", cmp.Or(err, io.EOF)
		}
		key = strings.TrimRight(string(piece[:n]), "\r\n")
		letter, size := utf8.DecodeRuneInString(key)
		line := len(key) < n && !strings.ContainsFunc(key, unicode.IsControl)
		switch {
		case key == endOfInput:
			return "", io.EOF
		case line, size == len(key) && unicode.IsPrint(letter):
			return key, nil
		}
	}
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

// cancel ends the open question and all later ones.
func (p *Input) cancel() {
	p.end.Do(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		close(p.ended)
		p.input.Cancel()
	})
}

// skip ends the open question on a terminal, and leaves later ones alone.
func (p *Input) skip() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.skipped = true
	p.input.Cancel()
}

// renew opens the terminal again after a skip.
func (p *Input) renew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.skipped || p.over() {
		return
	}
	again, err := cancelreader.NewReader(p.tty)
	if err != nil {
		p.end.Do(func() { close(p.ended) }) // a question that cannot be read has no answer, not even a no
		return
	}
	_ = p.input.Close()
	p.input, p.skipped = again, false
}

// AskIn shows a question of one key on out and returns the answer, or an error if
// ctx ends first or nothing can be written.
func (p *Input) AskIn(ctx context.Context, out io.Writer, prompt string, styles *draw.Styles) (answer string, answered bool, err error) {
	release := context.AfterFunc(ctx, p.cancel)
	var unwritten error
	answer, keyed, answered := p.ask(true, func() bool {
		_, unwritten = io.WriteString(out, painted(styles, prompt))
		return unwritten == nil
	})
	if keyed && unwritten == nil {
		_, unwritten = io.WriteString(out, untrusted.Line(answer)+"\n")
	}
	if !release() {
		return "", false, context.Cause(ctx)
	}
	return answer, answered, unwritten
}

// Confirm asks a question until the answer is yes or no; the end of the input is a no.
func (p *Input) Confirm(ctx context.Context, out io.Writer, prompt string, styles *draw.Styles) (yes bool, err error) {
	yesOrNo := map[string]bool{"y": true, "yes": true, "n": false, "no": false}
	for {
		line, more, err := p.AskIn(ctx, out, prompt, styles)
		if err != nil {
			return false, err
		}
		if yes, ok := yesOrNo[strings.ToLower(strings.TrimSpace(line))]; ok || !more {
			return yes, nil
		}
	}
}

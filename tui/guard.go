package tui

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"
)

// Panic is the error of a screen that panicked while it drew, took a message or
// carried out a command. The terminal has been given back.
type Panic struct {
	Value any    // what was panicked with
	Stack []byte // of the goroutine that did
}

// Error says what was panicked with.
func (p *Panic) Error() string { return fmt.Sprintf("the screen panicked: %v", p.Value) }

// guard is the screen as Bubble Tea runs it. It keeps what panics in it, and
// panics on, for Bubble Tea to give the terminal back.
type guard struct {
	*Model
	caught *atomic.Pointer[Panic] // the first
}

func newGuard(m *Model) guard { return guard{m, &atomic.Pointer[Panic]{}} }

// keep is deferred around whatever may panic.
func (g guard) keep() {
	if r := recover(); r != nil {
		g.caught.CompareAndSwap(nil, &Panic{Value: r, Stack: debug.Stack()})
		panic(r)
	}
}

// Init is the screen's.
func (g guard) Init() tea.Cmd {
	defer g.keep()
	return g.watch(g.Model.Init())
}

// Update is the screen's.
func (g guard) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	defer g.keep()
	_, cmd := g.Model.Update(msg)
	return g, g.watch(cmd)
}

// View is the screen's.
func (g guard) View() tea.View {
	defer g.keep()
	return g.Model.View()
}

// watch keeps what panics in a command, and in those that it comes to.
func (g guard) watch(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		defer g.keep()
		msg := cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = g.watch(batch[i])
			}
		}
		return msg
	}
}

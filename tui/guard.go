package tui

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"
)

// Panic is the error of a screen that panicked in View, Update or a command.
// The terminal has been restored.
type Panic struct {
	Value any    // the value passed to panic
	Stack []byte // stack of the panicking goroutine
}

// Error describes the panic's value.
func (p *Panic) Error() string { return fmt.Sprintf("the screen panicked: %v", p.Value) }

// guard wraps the screen for Bubble Tea. It records the first panic and panics
// again, so that Bubble Tea restores the terminal.
type guard struct {
	*Model
	caught *atomic.Pointer[Panic] // the first panic
}

func newGuard(m *Model) guard { return guard{m, &atomic.Pointer[Panic]{}} }

// keep records a panic; deferred around everything that may panic.
func (g guard) keep() {
	if r := recover(); r != nil {
		g.caught.CompareAndSwap(nil, &Panic{Value: r, Stack: debug.Stack()})
		panic(r)
	}
}

// Init calls Init of the screen.
func (g guard) Init() tea.Cmd {
	defer g.keep()
	return g.watch(g.Model.Init())
}

// Update calls Update of the screen.
func (g guard) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	defer g.keep()
	_, cmd := g.Model.Update(msg)
	return g, g.watch(cmd)
}

// View calls View of the screen.
func (g guard) View() tea.View {
	defer g.keep()
	return g.Model.View()
}

// watch records panics of a command and of the commands in its batch.
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

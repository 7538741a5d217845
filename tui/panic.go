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

// panicKeeper wraps the screen for Bubble Tea. It records the first panic and panics
// again, so that Bubble Tea restores the terminal.
type panicKeeper struct {
	screen *Model
	caught *atomic.Pointer[Panic] // the first panic
}

func newPanicKeeper(m *Model) panicKeeper { return panicKeeper{m, &atomic.Pointer[Panic]{}} }

// keep records a panic; deferred around everything that may panic.
func (k panicKeeper) keep() {
	if r := recover(); r != nil {
		k.caught.CompareAndSwap(nil, &Panic{Value: r, Stack: debug.Stack()})
		panic(r)
	}
}

// Init calls Init of the screen.
func (k panicKeeper) Init() tea.Cmd {
	defer k.keep()
	return k.watch(k.screen.Init())
}

// Update calls Update of the screen.
func (k panicKeeper) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	defer k.keep()
	_, cmd := k.screen.Update(msg)
	return k, k.watch(cmd)
}

// View calls View of the screen.
func (k panicKeeper) View() tea.View {
	defer k.keep()
	return k.screen.View()
}

// watch records panics of a command and of the commands in its batch.
func (k panicKeeper) watch(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		defer k.keep()
		msg := cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = k.watch(batch[i])
			}
		}
		return msg
	}
}

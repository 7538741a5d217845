package config

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"replan/agent/session"
	"replan/cli/help"
)

// Model is the model that answers, and the server that has it.
type Model struct {
	Name          string // "" is the first installed one that can call tools
	Named         bool   // --model was given
	Host          string // an address; "" is the usual one
	ContextWindow int    // tokens; 0 starts small and may grow
	KeepAlive     time.Duration

	fromFile file // that Host may come from
}

// modelSection is the section [model] of the configuration.
type modelSection struct {
	Host          string    `toml:"host"`
	Name          string    `toml:"name"`
	ContextWindow int       `toml:"context_window"` // tokens
	KeepAlive     keepAlive `toml:"keep_alive"`
	Think         string    `toml:"think"`
}

// keepAlive is how long a model stays loaded: a duration or whole seconds. As in
// Ollama, a negative value means forever.
type keepAlive struct{ time.Duration }

// UnmarshalText parses the time.
func (k *keepAlive) UnmarshalText(text []byte) (err error) {
	if seconds, err := strconv.ParseInt(string(text), 10, 32); err == nil {
		k.Duration = time.Duration(seconds) * time.Second
	} else if k.Duration, err = time.ParseDuration(string(text)); err != nil {
		return err
	}
	if k.Duration == 0 {
		return errors.New("at 0 the model would be loaded again for every request")
	}
	return nil
}

// register declares the flags of the model.
func (m *Model) register(f *pflag.FlagSet) {
	f.StringVar(&m.Name, "model", "", "use the model `NAME`; default: the first installed one that can call tools")
	f.StringVar(&m.Host, "host", "", "find Ollama at `URL`; default: OLLAMA_HOST, else 127.0.0.1:11434")
	help.Common(f, "model")
}

// use has another model answer; a host of "" changes only the model.
func (m *Model) use(name, host string) { m.Name, m.Host = name, First(host, m.Host) }

// read reads the model from the flags, else the environment, else the configuration.
func (m *Model) read(from sources) error {
	c := from.file.Model
	m.Named, m.fromFile = from.given("model"), from.file
	m.Host = First(m.Host, from.getenv("OLLAMA_HOST"), c.Host)
	m.Name = First(m.Name, c.Name)
	if c.ContextWindow < 0 {
		return from.file.unusable(tooLittle("model.context_window", strconv.Itoa(c.ContextWindow)))
	}
	m.ContextWindow, m.KeepAlive = c.ContextWindow, c.KeepAlive.Duration
	return nil
}

// BadHost returns the error for a host that cannot be used. Configured says that it names
// the configuration file, which has the host.
func (m Model) BadHost(err error) (configured bool, fault error) {
	if m.Host == m.fromFile.Model.Host {
		return true, m.fromFile.unusable(fmt.Errorf("model.host: %w", err))
	}
	return false, err
}

// report returns the settings of [model], except for how hard it thinks.
func (m Model) report(from sources) []session.Setting {
	c := from.file.Model
	name := quoted("model.name", m.Name, from.of("model", c.Name != "" && m.Name == c.Name), "the model that answers")
	if name.Source == fromDefault && m.Name != "" {
		name.Source = fromProgram
	}
	host := quoted("model.host", First(m.Host, "127.0.0.1:11434"), fromDefault, "address of Ollama")
	switch {
	case from.given("host"):
		host.Source = from.of("host", true)
	case m.Host == "":
	case m.Host == from.getenv("OLLAMA_HOST"):
		host.Source = fromEnvironment
	case m.Host == c.Host:
		host.Source = fromConfiguration
	default:
		host.Source = fromProgram
	}
	window := unquoted("model.context_window", m.ContextWindow, from.of("", c.ContextWindow > 0), "tokens of context; 0 starts with at most 16384 and may grow")
	if m.ContextWindow == 0 {
		window.Value, window.About = "at most 16384, grows if needed", "tokens of context"
	}
	alive := quoted("model.keep_alive", "", from.of("", c.KeepAlive.Duration != 0), "how long the model stays loaded")
	alive.Value, alive.Literal = "the server's own", ""
	if m.KeepAlive != 0 {
		alive.Value, alive.Literal = m.KeepAlive.String(), strconv.Quote(m.KeepAlive.String())
	}
	return []session.Setting{name, host, window, alive}
}

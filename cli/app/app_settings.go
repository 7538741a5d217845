package app

import (
	"github.com/spf13/pflag"

	"replan/agent/ollama"
	"replan/agent/session"
	"replan/cli/config"
	"replan/internal/machine"
)

// Register declares the global flags. The settings are in force once [App.Complete] has
// read them.
func (a *App) Register(f *pflag.FlagSet) { a.settings.Register(f) }

// RegisterStrict declares --strict for a command that the chat has too.
func (a *App) RegisterStrict(f *pflag.FlagSet) { a.settings.RegisterStrict(f) }

// RegisterChat declares the flags that every command of the chat has.
func (a *App) RegisterChat(f *pflag.FlagSet) { a.settings.RegisterChat(f) }

// CheckOutput rejects an unknown form of the output.
func (a *App) CheckOutput() error { return a.settings.CheckOutput() }

// WorkHere has the command work on this machine, whatever --on says.
func (a *App) WorkHere() { a.settings.WorkHere() }

// TakeChoices applies the user's choices on an earlier screen of this process.
func (a *App) TakeChoices() { a.settings.TakeChoices() }

// SaveSetting saves a setting in the user's configuration; see [config.Options.SaveSetting].
func (a *App) SaveSetting(key string, value *string) (file string, err error) {
	return a.settings.SaveSetting(key, value)
}

// Folders returns where the command works and keeps its files.
func (a *App) Folders() config.Folders { return a.settings.Folders() }

// Model returns the model that answers.
func (a *App) Model() config.Model { return a.settings.Model() }

// ModelServer returns how to reach the server of the model.
func (a *App) ModelServer() ollama.Config {
	m, dirs := a.Model(), a.Folders().Dirs
	server := ollama.Config{
		Host: m.Host, Model: m.Name, ContextWindow: m.ContextWindow, KeepAlive: m.KeepAlive, Learned: dirs.Servers(), Findings: dirs.Findings(),
		Memory: machine.Memory(), Serve: installed(dirs.OllamaLog()),
	}
	if server.Serve == nil {
		server.Install = installer()
	}
	return server
}

// Planning returns who plans, and how.
func (a *App) Planning() config.Planning { return a.settings.Planning() }

// Execution returns how plans are carried out.
func (a *App) Execution() config.Execution { return a.settings.Execution() }

// Limits returns the limits of runs and of the session.
func (a *App) Limits() config.Limits { return a.settings.Limits() }

// Gates returns which calls run without the user.
func (a *App) Gates() config.Gates { return a.settings.Gates() }

// Isolation returns what programs may do.
func (a *App) Isolation() config.Isolation { return a.settings.Isolation() }

// ToolSettings returns which tools and servers are used.
func (a *App) ToolSettings() config.Tools { return a.settings.Tools() }

// Workers returns which workers carry out runs.
func (a *App) Workers() config.Workers { return a.settings.Workers() }

// Appearance returns what the screen and printed text look like.
func (a *App) Appearance() config.Appearance { return a.settings.Appearance() }

// Form returns the form of the output.
func (a *App) Form() config.Output { return a.settings.Output() }

// AllSettings returns every setting that has a key of its own; see [config.Options.All].
func (a *App) AllSettings() []session.Setting { return a.settings.All() }

// CheckSetting reports why a value cannot be saved for a setting.
func (a *App) CheckSetting(s session.Setting, value string) error {
	return a.settings.CheckSetting(s, value)
}

// CheckConfigFile reports what is wrong with a file config.toml, if it were the user's.
func (a *App) CheckConfigFile(path string) error { return a.settings.CheckFile(path) }

// Report returns the settings in force and their sources.
func (a *App) Report() session.Settings { return a.settings.Report() }

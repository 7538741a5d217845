package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"replan/internal/english"
	"replan/internal/lazyregexp"
)

// Places are the folders that hold the files of other programs.
type Places struct {
	Workspace string
	Home      string
	Config    string // of the user's settings: that of os.UserConfigDir
	XDG       string // ~/.config, on every system
	Codex     string // $CODEX_HOME; "" is ~/.codex
}

// programs are the programs whose files of servers can be found by name, with the
// places of these files.
var programs = []struct {
	name  string
	files func(Places) []string
}{
	{"claude", func(p Places) []string {
		return []string{filepath.Join(p.Home, ClaudeFile), filepath.Join(p.Config, "Claude", "claude_desktop_config.json")}
	}},
	{"cursor", func(p Places) []string {
		return []string{filepath.Join(p.Home, ".cursor", "mcp.json"), filepath.Join(p.Workspace, ".cursor", "mcp.json")}
	}},
	{"vscode", func(p Places) []string {
		return []string{filepath.Join(p.Config, "Code", "User", "mcp.json"), filepath.Join(p.Workspace, ".vscode", "mcp.json")}
	}},
	{"codex", func(p Places) []string {
		home := p.Codex
		if home == "" {
			home = filepath.Join(p.Home, ".codex")
		}
		return []string{filepath.Join(home, "config.toml"), filepath.Join(p.Workspace, ".codex", "config.toml")}
	}},
	{gemini, func(p Places) []string {
		return []string{filepath.Join(p.Home, ".gemini", "settings.json"), filepath.Join(p.Workspace, ".gemini", "settings.json")}
	}},
	{"windsurf", func(p Places) []string {
		return []string{filepath.Join(p.Home, ".codeium", "windsurf", "mcp_config.json")}
	}},
	{"opencode", func(p Places) []string {
		var all []string
		for _, folder := range []string{filepath.Join(p.XDG, "opencode"), p.Workspace} {
			for _, name := range []string{"opencode.json", "opencode.jsonc"} {
				all = append(all, filepath.Join(folder, name))
			}
		}
		return all
	}},
	{"zed", func(p Places) []string {
		return []string{filepath.Join(p.XDG, "zed", "settings.json"), filepath.Join(p.Workspace, ".zed", "settings.json")}
	}},
}

// Programs returns the names of the programs whose files [Import] finds.
func Programs() []string {
	var names []string
	for _, p := range programs {
		names = append(names, p.name)
	}
	return names
}

const gemini = "gemini"

// writesSeconds reports whether a file is one of a program that writes a "timeout" in
// seconds: of Cline, Roo or Crush.
func writesSeconds(path string) bool {
	switch filepath.Base(path) {
	case "cline_mcp_settings.json", "mcp_settings.json", "crush.json", ".crush.json":
		return true
	}
	return filepath.Base(filepath.Dir(path)) == ".roo"
}

// ClaudeFile is the name of the file of Claude Code that holds the servers of all
// projects, and those of each.
const ClaudeFile = ".claude.json"

// Imported are the servers of one file of another program.
type Imported struct {
	Path    string
	Servers []Server // as written: their variables are not expanded; invalid ones have a Problem
}

// Import reads the servers of another program, by its name, or those of a file. The
// files of a program that are not there, or hold no servers, are left out.
func Import(from string, places Places) ([]Imported, error) {
	for _, p := range programs {
		if p.name != from {
			continue
		}
		var all []Imported
		for _, path := range p.files(places) {
			servers, err := importFile(path, from, places)
			switch {
			case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNoTable), errors.Is(err, errNoTOMLTable):
			case err != nil:
				return nil, err
			default:
				all = append(all, Imported{path, servers})
			}
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("no servers of %s were found; looked at %s", from, strings.Join(p.files(places), ", "))
		}
		return all, nil
	}
	program := ""
	if filepath.Base(filepath.Dir(from)) == ".gemini" {
		program = gemini
	}
	servers, err := importFile(from, program, places)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(from, `/\.`) {
		return nil, fmt.Errorf("there is no program and no file %q: import from %s, or name a file%s", from, english.List(Programs(), "or"), english.DidYouMean(from, Programs()))
	}
	if err != nil {
		return nil, err
	}
	return []Imported{{from, servers}}, nil
}

// importFile reads the servers of a file of a program, which may be "".
func importFile(path, program string, places Places) ([]Server, error) {
	text, err := readBounded(path)
	if err != nil {
		return nil, fmt.Errorf("reading the MCP servers: %w", err)
	}
	entries, err := parse(path, text)
	if filepath.Base(path) == ClaudeFile {
		more, ok := claudeProject(text, places.Workspace)
		entries = append(entries, more...)
		if ok {
			err = nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s%w", path, err)
	}
	var servers []Server
	seen := map[string]bool{}
	taken := map[string]bool{"": true}
	for _, e := range entries {
		taken[e.name] = true
	}
	for _, e := range entries {
		was := e.name
		if seen[was] {
			continue
		}
		seen[was] = true
		if name := validName(was); !taken[name] {
			e.name, taken[name] = name, true
		}
		s, err := e.unexpanded(SourceUser)
		if e.name != was {
			s.Notes = append(s.Notes, e.note("", fmt.Sprintf("its name in the file is %q", was)))
		}
		for i, note := range s.Notes {
			s.Notes[i] = filepath.Base(path) + note
		}
		s.Name = e.name
		if err != nil {
			s.Problem = err.Error()
		}
		s.Trust = false // a decision of the user for each program
		servers = append(servers, converted(s, e, program))
	}
	return servers, nil
}

// validName writes a dash for what other programs allow in names, such as blanks.
func validName(name string) string {
	return strings.Trim(invalidInNames.ReplaceAllString(name, "-"), "-")
}

// claudeProject returns the servers that Claude Code keeps for one folder; ok is
// false if the file has none.
func claudeProject(text []byte, folder string) (all []found, ok bool) {
	root, err := document(text)
	if err != nil {
		return nil, false
	}
	escaped := strings.NewReplacer("~", "~0", "/", "~1").Replace(filepath.ToSlash(folder))
	value := root.Find("/projects/" + escaped + "/mcpServers")
	if value == nil {
		return nil, false
	}
	servers, ok := value.Value.(*hujson.Object)
	if !ok {
		return nil, false
	}
	return membersOf(servers, text, style{}), true
}

// invalidInNames matches what [names] has no place for.
var invalidInNames = lazyregexp.New(`[^A-Za-z0-9_.-]+`)

// bare matches a variable as Gemini CLI writes it, beside ${NAME}.
var bare = lazyregexp.New(`\$([A-Za-z_][A-Za-z0-9_]*)`)

// converted rewrites what only the other program understands.
func converted(s Server, e found, program string) Server {
	rewrite := func(text string) string {
		if e.style.braces {
			text = braces.ReplaceAllString(text, "$${$1:$2}")
			text = strings.ReplaceAll(text, "${env:", "${")
		}
		if program == gemini {
			text = bare.ReplaceAllString(text, "$${$1}")
		}
		return text
	}
	table := func(in map[string]string) map[string]string {
		out := map[string]string{}
		for name, value := range in {
			out[name] = rewrite(value)
		}
		if len(out) == 0 {
			return nil
		}
		return out
	}
	list := func(in []string) []string {
		out := slices.Clone(in)
		for i := range out {
			out[i] = rewrite(out[i])
		}
		return out
	}
	s.Command, s.Dir, s.URL, s.HeadersHelper = rewrite(s.Command), rewrite(s.Dir), rewrite(s.URL), rewrite(s.HeadersHelper)
	s.Args, s.Env, s.Headers = list(s.Args), table(s.Env), table(s.Headers)
	if s.OAuth != nil {
		o := *s.OAuth
		o.ClientID, o.ClientSecret, o.ClientMetadata, o.Scopes = rewrite(o.ClientID), rewrite(o.ClientSecret), rewrite(o.ClientMetadata), list(o.Scopes)
		s.OAuth = &o
	}
	if _, typed := e.lines["type"]; program == gemini && !typed && e.lines["url"] > 0 {
		s.SSE = true // it writes httpUrl for the other transport
	}
	return s
}

package lsp

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Gopls is the version of gopls that the program offers to install.
const Gopls = "golang.org/x/tools/gopls@v0.23.0"

// Program is a language server that can be started.
type Program struct {
	Language string   // its key in the configuration: go, rust, typescript, python, c
	Name     string   // what people call it
	Argv     []string // the command to look up on PATH and its arguments
	Install  string   // how to install it, in words for a user

	// files maps the ends of file names to the language identifiers of the
	// protocol.
	files map[string]string
	// markers are files besides that change what the server makes of a project.
	markers []string
	// environ is set on top of the inherited environment.
	environ func(dir string) map[string]string
	// options returns the settings of the server, found at the given path, by
	// their section. It fails where it cannot be started safely.
	options func(path, dir string) (map[string]any, error)
	// openAll: files that are not open are unknown to the server.
	openAll bool
	// quiesces: the server says when it has loaded the project, and answers
	// nothing useful before.
	quiesces bool
}

// Programs returns the servers that the package knows, by language.
func Programs() []Program {
	return []Program{
		{
			Language: "go", Name: "gopls", Argv: []string{"gopls"}, Install: "go install " + Gopls,
			files: map[string]string{".go": "go"}, markers: []string{"go.mod", "go.sum", "go.work"},
			environ: goEnviron, options: goOptions,
		},
		{
			Language: "rust", Name: "rust-analyzer", Argv: []string{"rust-analyzer"}, Install: "rustup component add rust-analyzer",
			files: map[string]string{".rs": "rust"}, markers: []string{"Cargo.toml", "Cargo.lock"},
			environ: rustEnviron, options: rustOptions, quiesces: true,
		},
		{
			Language: "typescript", Name: "typescript-language-server", Argv: []string{"typescript-language-server", "--stdio"},
			Install: "npm install -g typescript-language-server typescript",
			files: map[string]string{
				".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescriptreact",
				".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascriptreact",
			},
			markers: []string{"package.json", "tsconfig.json", "jsconfig.json"}, options: typescriptOptions,
		},
		{
			Language: "python", Name: "pyright", Argv: []string{"pyright-langserver", "--stdio"}, Install: "npm install -g pyright",
			files:   map[string]string{".py": "python", ".pyi": "python"},
			markers: []string{"pyproject.toml", "pyrightconfig.json", "setup.cfg"}, options: pythonOptions,
		},
		{
			// Its configuration may name an index server, and its index is a folder
			// in the project, so both stay off.
			Language: "c", Name: "clangd", Argv: []string{"clangd", "--background-index=false", "--enable-config=false", "--clang-tidy=false"},
			Install: "the package clangd of your system",
			files: map[string]string{
				".c": "c", ".h": "cpp", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp", ".hxx": "cpp",
			},
			markers: []string{"compile_commands.json", "compile_flags.txt"}, openAll: true,
		},
	}
}

// language is the identifier of a file in the protocol. It is false for files of
// other languages.
func (p Program) language(file string) (string, bool) {
	id, ok := p.files[strings.ToLower(filepath.Ext(file))]
	return id, ok
}

// watches reports whether a change of the file concerns the server.
func (p Program) watches(file string) bool {
	_, source := p.language(file)
	return source || slices.Contains(p.markers, filepath.Base(file))
}

// find returns the path of a command on the PATH of environ. Relative entries of
// PATH, and what lies in the workspace or leads there, are passed over.
func (w workspace) find(command string, environ []string) (string, error) {
	if strings.ContainsRune(command, filepath.Separator) || strings.Contains(command, "/") {
		if !filepath.IsAbs(command) {
			return "", fmt.Errorf("the command %s is neither a name nor an absolute path", command)
		}
		if w.contains(command) {
			return "", fmt.Errorf("the command %s lies in the workspace and is not started", command)
		}
		path, err := exec.LookPath(command)
		if err != nil {
			return "", fmt.Errorf("looking for %s: %w", command, err)
		}
		return path, nil
	}
	for _, dir := range append(w.searchPath(environ), installFolders(environ)...) {
		path, err := exec.LookPath(filepath.Join(dir, command))
		if err == nil && !w.contains(path) {
			return path, nil
		}
	}
	return "", &exec.Error{Name: command, Err: exec.ErrNotFound}
}

// searchPath returns the entries of PATH that are absolute and lie outside the
// workspace.
func (w workspace) searchPath(environ []string) []string {
	return slices.DeleteFunc(filepath.SplitList(variable(environ, "PATH")), func(dir string) bool {
		return !filepath.IsAbs(dir) || w.contains(dir)
	})
}

// installFolders are where go install puts programs, which often is not on PATH.
func installFolders(environ []string) []string {
	var dirs []string
	if dir := variable(environ, "GOBIN"); dir != "" {
		dirs = append(dirs, dir)
	}
	for _, dir := range filepath.SplitList(variable(environ, "GOPATH")) {
		dirs = append(dirs, filepath.Join(dir, "bin"))
	}
	if home := variable(environ, "HOME"); home != "" {
		dirs = append(dirs, filepath.Join(home, "go", "bin"))
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) })
}

// variable is the value of an environment variable; the last entry counts.
func variable(environ []string, name string) string {
	for _, entry := range slices.Backward(environ) {
		key, value, _ := strings.Cut(entry, "=")
		if key == name || runtime.GOOS == "windows" && strings.EqualFold(key, name) {
			return value
		}
	}
	return ""
}

// goEnviron keeps the go command from cgo, downloads and other programs.
func goEnviron(dir string) map[string]string {
	mod := "-mod=readonly"
	if _, err := os.Stat(filepath.Join(dir, "vendor", "modules.txt")); err == nil {
		mod = "-mod=vendor"
	}
	return map[string]string{
		"CGO_ENABLED": "0", "GOFLAGS": mod, "GOPROXY": "off", "GONOPROXY": "none", "GOTOOLCHAIN": "local",
		"GOVCS": "*:off", "GOPACKAGESDRIVER": "off",
	}
}

func goOptions(_, dir string) (map[string]any, error) {
	return map[string]any{"gopls": map[string]any{
		"env": goEnviron(dir), "vulncheck": "Off", "telemetryPrompt": false, "symbolScope": "workspace", "symbolMatcher": "CaseInsensitive",
	}}, nil
}

// rustEnviron keeps cargo and rustup from downloads, and from wrappers that the
// project's configuration may name.
func rustEnviron(string) map[string]string {
	return map[string]string{
		"CARGO_NET_OFFLINE": "true", "RUSTUP_AUTO_INSTALL": "0", "RUSTC_WRAPPER": "", "RUSTC_WORKSPACE_WRAPPER": "",
		"CARGO_BUILD_RUSTC_WRAPPER": "", "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER": "",
	}
}

func rustOptions(string, string) (map[string]any, error) {
	return map[string]any{"rust-analyzer": map[string]any{
		"cargo":       map[string]any{"buildScripts": map[string]any{"enable": false}},
		"procMacro":   map[string]any{"enable": false},
		"checkOnSave": false, // cargo check runs both
	}}, nil
}

// typescriptOptions name the compiler beside the server. Without them it would
// start the one in the project's node_modules.
func typescriptOptions(path, _ string) (map[string]any, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("finding typescript beside %s: %w", path, err)
	}
	for dir := filepath.Dir(real); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		tsserver := filepath.Join(dir, "node_modules", "typescript", "lib", "tsserver.js")
		if _, err := os.Stat(tsserver); err == nil {
			return map[string]any{"": map[string]any{
				"tsserver": map[string]any{"path": tsserver, "useSyntaxServer": "never"}, "plugins": []any{}, "disableAutomaticTypingAcquisition": true,
			}}, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("finding typescript beside %s: %w", path, err)
		}
	}
	return nil, errors.New("typescript is not installed beside it: npm install -g typescript")
}

func pythonOptions(string, string) (map[string]any, error) {
	return map[string]any{
		"python": map[string]any{"analysis": map[string]any{"diagnosticMode": "openFilesOnly", "autoSearchPaths": true}},
	}, nil
}

// environment is what a server gets: what is inherited, with the entries of PATH
// that are safe and the variables of its own.
func (w workspace) environment(p Program, inherited []string) map[string]string {
	own := map[string]string{"PATH": strings.Join(w.searchPath(inherited), string(filepath.ListSeparator))}
	if p.environ != nil {
		maps.Copy(own, p.environ(w.real))
	}
	return own
}

// Section is what the configuration says of language servers, [lsp].
type Section struct {
	Enabled *bool `toml:"enabled"` // false asks none

	// The command of each language: a program on PATH or its absolute path, and its
	// arguments. An empty one asks no server about the language.
	Go         []string `toml:"go"`
	Rust       []string `toml:"rust"`
	TypeScript []string `toml:"typescript"` // and JavaScript
	Python     []string `toml:"python"`
	C          []string `toml:"c"` // and C++
}

// On reports whether servers may be asked at all.
func (s Section) On() bool { return s.Enabled == nil || *s.Enabled }

// Commands are the commands that are set, by language.
func (s Section) Commands() map[string][]string {
	commands := map[string][]string{"go": s.Go, "rust": s.Rust, "typescript": s.TypeScript, "python": s.Python, "c": s.C}
	maps.DeleteFunc(commands, func(_ string, argv []string) bool { return argv == nil })
	return commands
}

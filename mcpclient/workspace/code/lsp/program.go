package lsp

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"replan/mcpclient/child"
)

// Gopls is the version of gopls that the program offers to install.
const Gopls = "golang.org/x/tools/gopls@v0.23.0"

// Program is a language server that can be started.
type Program struct {
	Language string   // its key in the configuration: go, rust, typescript, python, c
	Name     string   // display name
	Argv     []string // the command to look up on PATH and its arguments
	Install  string   // installation instructions for the user

	// version is the argument that prints the version and ends; "" if there is none.
	version string
	// files maps the suffixes of file names to the protocol's language
	// identifiers.
	files map[string]string
	// markers are other files that affect the server's view of a project.
	markers []string
	// environ returns variables to add to the inherited environment.
	environ func(dir string) map[string]string
	// options returns the settings by section for the server at the given path. It
	// fails if the server cannot be started safely.
	options func(path, dir string) (map[string]any, error)
	// openAll means that the server knows only open files.
	openAll bool
	// quiesces means that the server reports when it has loaded the project, and
	// gives no useful answer before.
	quiesces bool
}

// Programs returns the supported servers, by language.
func Programs() []Program {
	return []Program{
		{
			Language: "go", Name: "gopls", version: "version", Argv: []string{"gopls"}, Install: "go install " + Gopls,
			files: map[string]string{".go": "go"}, markers: []string{"go.mod", "go.sum", "go.work"},
			environ: goEnviron, options: goOptions,
		},
		{
			Language: "rust", Name: "rust-analyzer", version: "--version", Argv: []string{"rust-analyzer"}, Install: "rustup component add rust-analyzer",
			files: map[string]string{".rs": "rust"}, markers: []string{"Cargo.toml", "Cargo.lock"},
			environ: rustEnviron, options: rustOptions, quiesces: true,
		},
		{
			Language: "typescript", Name: "typescript-language-server", version: "--version", Argv: []string{"typescript-language-server", "--stdio"},
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
			// Its configuration may name an index server, and its index is a folder in the
			// project, so both stay off.
			Language: "c", Name: "clangd", version: "--version", Argv: []string{"clangd", "--background-index=false", "--enable-config=false", "--clang-tidy=false"},
			Install: "install clangd with the package manager of your system",
			files: map[string]string{
				".c": "c", ".h": "cpp", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp", ".hxx": "cpp",
			},
			markers: []string{"compile_commands.json", "compile_flags.txt"}, openAll: true,
		},
	}
}

// language returns the protocol's identifier for a file. It returns false for
// files of other languages.
func (p Program) language(file string) (string, bool) {
	id, ok := p.files[strings.ToLower(filepath.Ext(file))]
	return id, ok
}

// watches reports whether a change of the file affects the server.
func (p Program) watches(file string) bool {
	_, source := p.language(file)
	return source || slices.Contains(p.markers, filepath.Base(file))
}

// find returns the path of a command on the PATH of environ. It skips relative
// entries of PATH, and everything that is in the workspace or links into it.
func (w workspace) find(command string, environ []string) (string, error) {
	if strings.ContainsRune(command, filepath.Separator) || strings.Contains(command, "/") {
		if !filepath.IsAbs(command) {
			return "", fmt.Errorf("the command %s is neither a name nor an absolute path", command)
		}
		if w.folder.Contains(command) {
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
		if err == nil && !w.folder.Contains(path) {
			return path, nil
		}
	}
	return "", &exec.Error{Name: command, Err: exec.ErrNotFound}
}

// searchPath returns the absolute entries of PATH outside the workspace.
func (w workspace) searchPath(environ []string) []string {
	return slices.DeleteFunc(filepath.SplitList(child.Variable(environ, "PATH")), func(dir string) bool {
		return !filepath.IsAbs(dir) || w.folder.Contains(dir)
	})
}

// installFolders returns the folders where go install puts programs, which are
// often not on PATH.
func installFolders(environ []string) []string {
	var dirs []string
	if dir := child.Variable(environ, "GOBIN"); dir != "" {
		dirs = append(dirs, dir)
	}
	for _, dir := range filepath.SplitList(child.Variable(environ, "GOPATH")) {
		dirs = append(dirs, filepath.Join(dir, "bin"))
	}
	if home := child.Variable(environ, "HOME"); home != "" {
		dirs = append(dirs, filepath.Join(home, "go", "bin"))
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) })
}

// goEnviron prevents the go command from using cgo, downloads and other
// programs.
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

// rustEnviron prevents cargo and rustup from downloading, and from using
// wrappers named in the project's configuration.
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
		"checkOnSave": false, // cargo check runs both build scripts and macros
	}}, nil
}

// typescriptOptions name the compiler installed beside the server. Otherwise
// the server would start the one in the project's node_modules.
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

// environment returns a server's environment: the inherited one with the safe
// entries of PATH, and the server's own variables.
func (w workspace) environment(p Program, inherited []string) map[string]string {
	own := map[string]string{"PATH": strings.Join(w.searchPath(inherited), string(filepath.ListSeparator))}
	if p.environ != nil {
		maps.Copy(own, p.environ(w.folder.Real()))
	}
	return own
}

// Section is the configuration of language servers, [lsp].
type Section struct {
	Enabled *bool `toml:"enabled"` // false disables all

	// The command of each language: a program on PATH or its absolute path, and
	// its arguments. An empty command disables the language.
	Go         []string `toml:"go"`
	Rust       []string `toml:"rust"`
	TypeScript []string `toml:"typescript"` // and JavaScript
	Python     []string `toml:"python"`
	C          []string `toml:"c"` // and C++
}

// On reports whether language servers are enabled.
func (s Section) On() bool { return s.Enabled == nil || *s.Enabled }

// Commands returns the configured commands by language.
func (s Section) Commands() map[string][]string {
	commands := map[string][]string{"go": s.Go, "rust": s.Rust, "typescript": s.TypeScript, "python": s.Python, "c": s.C}
	maps.DeleteFunc(commands, func(_ string, argv []string) bool { return argv == nil })
	return commands
}

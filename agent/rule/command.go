package rule

import (
	"encoding/json"
	"slices"
	"strings"
)

// Interprets reports whether a program runs code, or another program, given in
// its arguments.
func Interprets(program string) bool {
	return slices.Contains([]string{
		"sh", "bash", "zsh", "dash", "ksh", "fish", "csh", "tcsh", "ash", "busybox", "cmd", "powershell", "pwsh", "env", "xargs", "sudo", "doas",
		"su", "ssh", "nohup", "nice", "time", "timeout", "setsid", "stdbuf", "find", "python", "perl", "ruby", "node", "deno", "bun", "php", "lua", "awk", "gawk", "sed",
		"osascript", "eval", "exec", "make", "npx", "tclsh", "rscript", "docker", "podman",
	}, programName(program))
}

// programName returns the bare name of a program, without its folder and version.
func programName(program string) string {
	name := strings.ToLower(program[strings.LastIndexAny(program, `/\`)+1:])
	return strings.TrimRight(strings.TrimSuffix(name, ".exe"), "0123456789.-")
}

// launching lists programs that do not look like it, with the words that make them run
// another program, or its code. These are options, without their value, and commands.
var launching = map[string][]string{
	"go":    {"-vettool", "-toolexec", "-exec", "-overlay", "-modfile", "-ldflags", "-gccgoflags", "run", "generate", "tool", "install", "-w"},
	"git":   {"-c", "--config-env", "--exec-path", "--upload-pack", "--receive-pack", "--exec", "-x", "--ext-diff", "--textconv", "--open-files-in-pager", "-O", "config", "bisect", "submodule foreach", "filter-branch", "difftool", "mergetool"},
	"find":  {"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprintf", "-fls"},
	"fd":    {"--exec", "--exec-batch", "-x", "-X"},
	"rg":    {"--pre", "--hostname-bin"},
	"tar":   {"--to-command", "--checkpoint-action", "--use-compress-program", "--rsh-command", "--info-script", "-I", "-F"},
	"rsync": {"--rsh", "-e", "--rsync-path"},
	"sort":  {"--compress-program"},
	"cargo": {"--config", "run", "install"},
	"npm":   {"--script-shell", "exec", "x"},
}

// Launches reports whether a command makes an ordinary program run another one, or sets
// environment variables in front of it. `go vet -vettool=X`, `git -c`, and `find -exec`
// do.
func Launches(words []string) bool {
	if len(words) == 0 {
		return false
	}
	if strings.Contains(words[0], "=") {
		return true
	}
	words, known := words[1:], launching[programName(words[0])]
	commands := commandWords(words)
	return slices.ContainsFunc(known, func(k string) bool {
		if command, below, _ := strings.Cut(k, " "); !strings.HasPrefix(k, "-") {
			return slices.Contains(commands, command) && (below == "" || slices.Contains(words, below))
		}
		return slices.ContainsFunc(words, func(word string) bool { return means(word, k) })
	})
}

// commandWords returns the words that may be the command of a program. These are the words
// up to the first that is neither an option nor, behind one, perhaps its value.
func commandWords(words []string) []string {
	for i, word := range words {
		if !strings.HasPrefix(word, "-") && (i == 0 || !strings.HasPrefix(words[i-1], "-")) {
			return words[:i+1]
		}
	}
	return words
}

// means reports whether a word is an option. Programs take one dash or two for long
// options, and most of them shortened ones.
func means(word, known string) bool {
	if strings.HasPrefix(word, "ext::") { // an address of git
		return true
	}
	name, _, _ := strings.Cut(word, "=")
	if len(known) == 2 {
		return strings.HasPrefix(name, known) // its value may be in the same word
	}
	bare := strings.TrimLeft(name, "-")
	return strings.HasPrefix(name, "-") && len(bare) > 2 && strings.HasPrefix(strings.TrimLeft(known, "-"), bare)
}

// launches reports whether a call runs a command that no pattern of a rule allows, only
// its exact words.
func launches(args map[string]any) bool {
	if text, ok := args["shell"].(string); ok && text != "" {
		return Launches(strings.Fields(text))
	}
	list, _ := args["argv"].([]any)
	words := make([]string, len(list))
	for i, v := range list {
		words[i], _ = v.(string)
	}
	return Launches(words)
}

// bindsCommand reports whether a rule has a condition on the command of a call that
// is a pattern, or covers a part of it alone.
func (r Rule) bindsCommand() bool {
	bound := false
	for name, pattern := range r.Args {
		if _, exact := plainText(pattern); exact && pattern != "" && (name == "argv" || name == "shell") {
			return false
		}
		bound = bound || pattern != "" && (name == "shell" || name == "argv" || strings.HasPrefix(name, "argv."))
	}
	return bound
}

// flagMark stands for a dash that begins a word. No wildcard matches it.
const flagMark = '\x01'

// markFlags marks the dashes that begin a word, in a text or in a pattern.
func markFlags(text string) string {
	if !strings.Contains(text, "-") {
		return text
	}
	marked := []byte(text)
	for i := range marked {
		if marked[i] == '-' && (i == 0 || strings.IndexByte(" \t\n\"'`\\", text[i-1]) >= 0) {
			marked[i] = flagMark
		}
	}
	return string(marked)
}

// isNumber reports whether a value is a number, whose dash is a sign.
func isNumber(v any) bool {
	switch v.(type) {
	case json.Number, float64, int, int64:
		return true
	default:
		return false
	}
}

// acted are characters that a shell acts on, for patterns of a shell command.
const acted = "`" + `;|&$<>(){}*?[\]%^'`

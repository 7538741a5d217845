package child

import (
	"maps"
	"runtime"
	"slices"
	"strings"

	"replan/internal/redact"
)

// inherited are the variables that every MCP server inherits. They hold what programs need
// to find other programs, the user's folders, the language, proxies, certificates and the
// screen. A name that ends in * stands for all that begin so. Variables that let a program
// act for the user, such as SSH_AUTH_SOCK, are not among them.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TMPDIR", "TMP", "TEMP", "TZ", "XDG_*",
	"LANG", "LANGUAGE", "LC_*", "TERM", "COLORTERM", "NO_COLOR",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "FTP_PROXY",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
	"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS",
	"AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "KUBECONFIG", "DOCKER_HOST", "DOCKER_CONTEXT",
	"JAVA_HOME", "GOPATH", "GOROOT", "NVM_DIR", "VOLTA_HOME", "PYENV_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX", "CARGO_HOME", "RUSTUP_HOME",
	"NIX_*", "LD_LIBRARY_PATH", "PLAYWRIGHT_BROWSERS_PATH",
	// Windows
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "OS", "USERPROFILE", "USERNAME", "USERDOMAIN", "HOMEDRIVE", "HOMEPATH",
	"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES*", "COMMONPROGRAMFILES*", "PUBLIC", "ALLUSERSPROFILE", "NUMBER_OF_PROCESSORS", "PROCESSOR_*",
}

// ServerEnviron returns the environment of an MCP server. From environ it takes the
// variables of a fixed list, unless their values look like secrets. It also takes
// those that inherit names, by name or as NAME_*. All of own override them. Upper
// and lower case count alike.
func ServerEnviron(environ []string, own map[string]string, inherit []string) []string {
	var kept []string
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if anyName(inherit, name) || anyName(inherited, name) && !redact.Variable(name, value) {
			kept = append(kept, entry)
		}
	}
	return overridden(kept, own)
}

// anyName reports whether a name matches one of the patterns.
func anyName(patterns []string, name string) bool {
	return name != "" && slices.ContainsFunc(patterns, func(p string) bool {
		if start, open := strings.CutSuffix(p, "*"); open {
			return len(name) >= len(start) && strings.EqualFold(name[:len(start)], start)
		}
		return strings.EqualFold(name, p)
	})
}

// overridden returns environ with the variables in own added or replaced.
func overridden(environ []string, own map[string]string) []string {
	kept := slices.DeleteFunc(environ, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, replaced := own[name]
		return replaced
	})
	for _, name := range slices.Sorted(maps.Keys(own)) {
		kept = append(kept, name+"="+own[name])
	}
	return kept
}

// Environ returns environ, a list of NAME=value entries, without variables
// whose names or values look like secrets, and with own added. It keeps every
// variable in own, whatever its name, because a user set it for this child.
func Environ(environ []string, own map[string]string) []string {
	kept := make([]string, 0, len(environ)+len(own))
	for _, entry := range environ {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" || redact.Variable(name, value) {
			continue
		}
		kept = append(kept, entry)
	}
	return overridden(kept, own)
}

// Variable returns the value of an environment variable; the last entry wins.
func Variable(environ []string, name string) string {
	for _, entry := range slices.Backward(environ) {
		key, value, _ := strings.Cut(entry, "=")
		if key == name || runtime.GOOS == "windows" && strings.EqualFold(key, name) {
			return value
		}
	}
	return ""
}

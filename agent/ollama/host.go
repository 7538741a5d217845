package ollama

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

const defaultPort = "11434"

// parseHost parses an address as Ollama parses OLLAMA_HOST: a URL, host:port, a
// bare host or an empty string.
func parseHost(text string) (*url.URL, error) {
	s := strings.Trim(strings.TrimSpace(text), `"'`)
	if strings.Contains(s, "@") {
		// Do not repeat the text: it may contain a password.
		return nil, fmt.Errorf("reading the address of Ollama: a user name is not possible there; give host:port or a URL without one")
	}
	port := defaultPort
	scheme, rest, hasScheme := strings.Cut(s, "://")
	switch {
	case !hasScheme && s == "ollama.com":
		scheme, rest, port = "https", s, "443"
	case !hasScheme:
		scheme, rest = "http", s
	case scheme == "http":
		port = "80"
	case scheme == "https":
		port = "443"
	default:
		return nil, fmt.Errorf("reading the address of Ollama: %q is neither http nor https; give host:port or a URL", text)
	}
	hostport, path, _ := strings.Cut(rest, "/")
	host, given, err := net.SplitHostPort(hostport)
	if err != nil {
		host, given = strings.Trim(hostport, "[]"), ""
	}
	if given != "" {
		port = given
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return nil, fmt.Errorf("reading the address of Ollama: %q is not a port in %q; give host:port or a URL", port, text)
	}
	u := &url.URL{Scheme: scheme, Host: net.JoinHostPort(reachable(host), port), Path: strings.TrimSuffix(path, "/")}
	if u.Path != "" {
		u.Path = "/" + u.Path
	}
	if _, err := url.Parse(u.String()); err != nil || strings.ContainsAny(host, " \t") {
		return nil, fmt.Errorf("reading the address of Ollama: %q is not an address; give host:port or a URL", text)
	}
	return u, nil
}

// reachable converts an address to listen on, such as 0.0.0.0, to one that a
// client can connect to.
func reachable(host string) string {
	ip := net.ParseIP(host)
	switch {
	case host == "":
		return "127.0.0.1"
	case ip == nil || !ip.IsUnspecified():
		return host
	case ip.To4() != nil:
		return "127.0.0.1"
	default:
		return "::1"
	}
}

package checkout

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"replan/agent/remote"
	"replan/internal/redact"
	"replan/internal/untrusted"
)

// protocols are those by which git reaches repositories, as git lists them.
const protocols = "file:git:http:https:ssh"

var (
	helper    = regexp.MustCompile(`^[A-Za-z0-9+.-]*::`) // a program that git would run, such as ext::
	protocol  = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*)://`)
	shortForm = regexp.MustCompile(`^[^/\\]{2,}:`) // HOST:PATH; one letter is a drive
)

// refused is an error of what the run asks for: no worker can check that out.
func refused(format string, args ...any) error {
	return &remote.Problem{Code: remote.CodeUsage, Text: untrusted.Text(fmt.Sprintf(format, args...))}
}

// checkAddress refuses addresses that git would take for an option or for a program.
func checkAddress(address string) error {
	scheme := ""
	if found := protocol.FindStringSubmatch(address); found != nil {
		scheme = strings.ToLower(found[1])
	}
	switch {
	case strings.HasPrefix(address, "-"), strings.ContainsFunc(address, unicode.IsControl):
		return refused("the address of the repository begins with a dash or has control characters: write a URL or an absolute path")
	case helper.MatchString(address):
		return refused("the address of the repository names a program (…::): write a URL or an absolute path")
	case scheme != "" && !strings.Contains(":"+protocols+":", ":"+scheme+":"):
		return refused("a repository cannot be reached by %.20q: use https, ssh or an absolute path", scheme)
	case scheme == "" && !shortForm.MatchString(address) && !filepath.IsAbs(address):
		return refused("the address of the repository is a relative path, which differs from worker to worker: write a URL or an absolute path")
	}
	return nil
}

// shown returns an address without secrets.
func shown(address string) string {
	if !protocol.MatchString(address) {
		return redact.Text(address)
	}
	at, err := url.Parse(address)
	if err != nil {
		return "the repository"
	}
	if at.Scheme == "http" || at.Scheme == "https" {
		at.User = nil // a token may stand for the name
	} else if at.User != nil {
		at.User = url.User(at.User.Username())
	}
	at.RawQuery, at.Fragment = "", ""
	return redact.Text(at.String())
}

// hide removes the secrets of an address from a text.
func hide(address, text string) string {
	text = strings.ReplaceAll(text, address, shown(address))
	if at, err := url.Parse(address); err == nil && protocol.MatchString(address) {
		secrets := []string{at.RawQuery}
		if at.User != nil {
			password, named := at.User.Password()
			secrets = append(secrets, at.User.String(), password)
			if !named && at.Scheme != "ssh" {
				secrets = append(secrets, at.User.Username())
			}
		}
		for _, secret := range secrets {
			if secret != "" {
				text = strings.ReplaceAll(text, secret, "[left out]")
			}
		}
	}
	return redact.Text(text)
}

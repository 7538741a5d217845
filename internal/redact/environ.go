package redact

import (
	"slices"
	"strings"
)

// secretWords are words in the names of variables that hold secrets.
var secretWords = []string{
	"PASSWORD", "PASSWORDS", "PASSWD", "PASSPHRASE", "PASS", "PWD", "SECRET", "SECRETS", "CREDENTIAL", "CREDENTIALS", "CREDS", "TOKEN", "TOKENS",
	"KEY", "KEYS", "APIKEY", "AUTH", "AUTHORIZATION", "DSN", "PAT", "JWT", "SESSION", "COOKIE", "COOKIES", "SID", "SK", "WEBHOOK", "BEARER", "SIGNATURE",
}

// harmless lists variables that contain such a word but no secret. A child process
// may need them.
var harmless = []string{
	"PWD", "SSH_AUTH_SOCK", "DESKTOP_SESSION", "SESSION_MANAGER", "DBUS_SESSION_BUS_ADDRESS", "XDG_SESSION_ID", "XDG_SESSION_TYPE",
	"XDG_SESSION_CLASS", "XDG_SESSION_DESKTOP", "XDG_SESSION_PATH", "GNOME_DESKTOP_SESSION_ID", "GDM_SESSION", "SSH_KEY_PATH",
}

// services are services whose addresses may contain a password.
var services = []string{
	"DATABASE", "DB", "MONGO", "MONGODB", "REDIS", "POSTGRES", "POSTGRESQL", "PG", "MYSQL", "MARIADB", "AMQP", "RABBITMQ", "CELERY", "BROKER", "SENTRY", "SLACK",
}

// Variable reports whether an environment variable holds something that a child
// process must not see. It checks each word of the name, and the value.
func Variable(name, value string) bool {
	name = strings.ToUpper(name)
	if slices.Contains(harmless, name) {
		return without(value, precise, func(string) string { return "" }) != value
	}
	for _, prefix := range []string{"AZURE_", "ARM_CLIENT_", "KUBE_CONFIG"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	for _, part := range []string{"PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "CREDENTIAL", "APIKEY"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') })
	for _, word := range words {
		if slices.Contains(secretWords, strings.TrimRight(word, "0123456789")) {
			return true
		}
	}
	if last := len(words) - 1; last > 0 && (words[last] == "URL" || words[last] == "URI") && slices.Contains(services, words[last-1]) {
		return true
	}
	return without(value, precise, func(string) string { return "" }) != value
}

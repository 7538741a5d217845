package memory_test

import (
	"strings"
	"testing"
)

var longWord = strings.Repeat("aB3", 14)

// secrets are facts that are refused, each with the part that no answer may
// repeat.
var secrets = map[string][]struct{ fact, secret string }{
	"private keys": {
		{"-----BEGIN OPENSSH PRIVATE KEY----- b3Blbn", "b3Blbn"},
		{"-----BEGIN PRIVATE KEY-----", "BEGIN"},
	},
	"known key formats": {
		{"use ghp_" + longWord, longWord},
		{"github_pat_" + longWord, longWord},
		{"glpat-" + longWord, longWord},
		{"sk-proj-" + longWord, longWord},
		{"sk_live_" + longWord, longWord},
		{"xoxb-1234567890-x", "1234567890"},
		{"AKIA" + strings.Repeat("A", 16), "AKIA"},
		{"AIza" + longWord, longWord},
		{"hf_" + longWord, longWord},
		{"npm_" + longWord, longWord},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc", "eyJ"},
		{"the id " + longWord, longWord},
		{"it is " + strings.Repeat("0f", 16), "0f0f"},
		{"it is " + strings.Repeat("0f", 32), "0f0f"},
	},
	"with a colon or equals sign": {
		{"Password: hunter2", "hunter2"},
		{"the DB_PASSWORD=hunter2", "hunter2"},
		{"API key = abc", "abc"},
		{`"token": "abc"`, "abc"},
		{"api-key: abc", "abc"},
		{"credentials: me/hunter2", "hunter2"},
		{"tokens: abc and def", "abc"},
		{"pwd: hunter2", "hunter2"},
		{"MYSQL_PWD=swordfish", "swordfish"},
		{"pass=hunter2", "hunter2"},
		{"user: me, pass: swordfish", "swordfish"},
		{"password for staging: hunter2", "hunter2"},
		{"The token of the bot, 12:AAbbcc33", "AAbbcc33"},
	},
	"with a verb": {
		{"my password is hunter2", "hunter2"},
		{"my PIN is 1234", "1234"},
		{"the client secret is abc", "abc"},
		{"passphrase is 'correct horse'", "correct"},
		{"my tokens are abc and def", "abc"},
		{"The root pw is hunter2", "hunter2"},
		{"the old password was swordfish", "swordfish"},
		{"The API key is now sk83hf9a", "83hf9a"},
		{"The token is bXlzZWNyZXQ==", "bXlz"},
		{"Password: secret", "Password"},
		{"password: in.the.sun", "sun"},
		{"my token is always 83hf9a77", "83hf9a77"},
		{"the passphrase is correct-horse-battery", "horse"},
		{"password is kept hunter2", "hunter2"},
		{"My passwords are in pass, the root password is hunter2", "hunter2"},
	},
	"with a purpose": {
		{"The password for the staging database is hunter2", "hunter2"},
		{"The API key for the billing service is 83hf9a", "83hf9a"},
		{"The password of the user on db.example.org is swordfish", "swordfish"},
		{"the PIN for my phone is 1234", "1234"},
	},
	"next to their names": {
		{"my wifi password hunter2", "hunter2"},
		{"password - hunter2", "hunter2"},
		{"API key (83hf9a)", "83hf9a"},
		{"my PIN 1234", "1234"},
		{"use the token 83hf9a77", "83hf9a77"},
	},
	"in other languages": {
		{"mein Passwort: geheim", "geheim"},
		{"Das Passwort lautet hunter2", "hunter2"},
		{"Das Passwort für die Datenbank ist geheim", "geheim"},
		{"mot de passe : hunter2", "hunter2"},
	},
	"request headers": {
		{"Authorization: Bearer abc123def456ghi", "abc123def456ghi"},
		{"Authorization: Basic bWU6cGFzcw==", "bWU6cGFzcw"},
		{"curl with bearer abc123def456ghi", "abc123def456ghi"},
	},
	"in URLs": {
		{"postgres://me:hush@db/x", "hush"},
		{"https://:hush@host/", "hush"},
		{"postgres://user:hu/sh@h", "hu/sh"},
	},
	"card numbers": {
		{"credit card 4111 1111 1111 1111", "4111"},
		{"my card is 5555-5555-5555-4444, until 12/30", "5555"},
		{"4111111111111111 0127", "4111"},
		{"Amex 3782 822463 10005", "822463"},
		{"my Visa 4539578763621486", "4539"},
	},
	"seed phrases": {
		{"legal winner thank year wave sausage worth useful legal winner thank yellow", "legal"},
		{`these are for the wallet: "Legal winner thank year wave sausage worth useful legal winner thank yellow."`, "sausage"},
		{"seed phrase: legal winner", "winner"},
		{"always when please with this that then always when this please that then always when this please that", "please"},
	},
}

func TestSecretsAreRefusedAndNotRepeated(t *testing.T) {
	d := newDesk(t)
	for kind, facts := range secrets {
		t.Run(kind, func(t *testing.T) {
			for _, c := range facts {
				got := d.Ask(t, "memory.write", args{"text": c.fact}, nil)
				if !got.IsError || !strings.Contains(got.Text, "looks like") || !strings.Contains(got.Text, "secrets are not remembered") {
					t.Errorf("%q:: got %q", c.fact, got.Text)
				}
				if strings.Contains(got.Text, c.secret) {
					t.Errorf("%q: the refusal repeats the secret: %q", c.fact, got.Text)
				}
			}
		})
	}
}

func TestMentionsOfSecretsAreAccepted(t *testing.T) {
	d := newDesk(t)
	for kind, facts := range map[string][]string{
		"location of secrets": {
			"My tokens are kept in pass", "API keys are in Vault", "The password for the wiki is kept in pass",
			"token: see .env", "Credentials: ask Bob", "Password: see the vault of the team", "The API key is $API_KEY", "The token is in ~/.netrc",
			"Das Kennwort ist bei Anna zu erfragen", "Das Passwort ist im Tresor", "Secrets: use Vault, never the repo",
			"My password manager is pass", "I use a password manager", "Password manager: 1Password",
		},
		"handling of secrets": {
			"passwords are never to be logged", "The secret is never committed", "passwords are hashed with argon2",
			"Passwords in this project are hashed with argon2", "API keys are rotated monthly", "A password is required.", "The token is optional",
			"The access token is short-lived", "The token is a JWT", "The access token is valid for 15 minutes", "The API key is required",
			"Uses OAuth2 bearer JWT-RS256 tokens", "Password policy: at least 12 characters", "passwords: 12 characters minimum",
		},
		"other meanings": {
			"Tokens are counted with tiktoken", "Tokens are cheap", "Pins are soldered by hand", "The LED is on pin 13",
			"I like tokenizers: they are fast", "Tests pass before I commit", "My password has 20 characters",
			"Unit tests pass: 120 of 121", "All tests pass = green light", "The secret is that he prefers tabs",
			"Design token --color-primary-500 is for buttons", "The design token: color-primary-500",
		},
		"counts and versions": {
			"max token 4096 for replies", "tokens: 4096 at most", "token budget: 100000 per session",
			"Pin 1.22 of Go", "Pin 2024.1 of the IDE", "Always pin v1.22.3 of Go in CI", "Prefers to pin numpy==1.26.4 in requirements",
		},
		"long words": {
			"uses commit 376721b0aa11223344556677889900aabbccddee as base", "pi is " + strings.Repeat("1", 40), "I prefer sk-learn",
			"sha256 " + strings.Repeat("0f", 32) + " is the checksum",
			"I call it the-very-long-name-of-a-branch-that-is-mine", "Write dates as 2024-05-06T07:08:09Z",
		},
		"URLs without a password": {
			"My site is https://example.org:8080/x", "packages come from http://localhost:4873/@me/pkg",
		},
		"other numbers": {
			"the order 4111 1111 1111 1112", "call +49 170 1234 5678", "the release 20240506070809 is mine",
			"Build 4539578763621486 failed",
		},
		"sentences": {
			"Please always write short plain answers with every small step shown before code and never leave tests out",
			"I know python, java, rust, ruby, perl, bash, swift, scala, kotlin, lua, dart, julia, erlang",
			"Prefers short commit messages written using present tense without trailing dots always please",
		},
	} {
		t.Run(kind, func(t *testing.T) {
			for _, fact := range facts {
				if got := d.Ask(t, "memory.write", args{"text": fact}, nil); got.IsError {
					t.Errorf("%q: %s", fact, got.Text)
				}
			}
		})
	}
}

func TestExistingSecretCanBeRemoved(t *testing.T) {
	d := newDesk(t)
	d.setText(t, "- my password is hunter2\n")
	if got := d.write(t, args{"text": "", "replaces": "my password is hunter2"}); got.Change != "removed" {
		t.Errorf("got %+v", got)
	}
}

package workspace_test

import (
	"strings"
	"testing"
)

var longWord = strings.Repeat("aB3", 14)

// secrets are facts that are refused, each with the part of it that no answer
// may repeat.
var secrets = map[string][]struct{ fact, secret string }{
	"private keys": {
		{"-----BEGIN OPENSSH PRIVATE KEY----- b3Blbn", "b3Blbn"},
		{"-----BEGIN PRIVATE KEY-----", "BEGIN"},
	},
	"keys by their form": {
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
	"told with a colon or an equals sign": {
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
	"told with a verb": {
		{"my password is hunter2", "hunter2"},
		{"my PIN is 1234", "1234"},
		{"the client secret is abc", "abc"},
		{"passphrase is 'correct horse'", "correct"},
		{"my tokens are abc and def", "abc"},
		{"The root pw is hunter2", "hunter2"},
		{"the old password was swordfish", "swordfish"},
		{"password is kept hunter2", "hunter2"},
		{"My passwords are in pass, the root password is hunter2", "hunter2"},
	},
	"told with what they are for": {
		{"The password for the staging database is hunter2", "hunter2"},
		{"The API key for the billing service is 83hf9a", "83hf9a"},
		{"The password of the user on db.example.org is swordfish", "swordfish"},
		{"the PIN for my phone is 1234", "1234"},
	},
	"told beside their names": {
		{"my wifi password hunter2", "hunter2"},
		{"password - hunter2", "hunter2"},
		{"API key (83hf9a)", "83hf9a"},
		{"my PIN 1234", "1234"},
	},
	"told in other languages": {
		{"mein Passwort: geheim", "geheim"},
		{"Das Passwort lautet hunter2", "hunter2"},
		{"Das Passwort für die Datenbank ist geheim", "geheim"},
		{"mot de passe : hunter2", "hunter2"},
	},
	"sent with a request": {
		{"Authorization: Bearer abc123def456ghi", "abc123def456ghi"},
		{"Authorization: Basic bWU6cGFzcw==", "bWU6cGFzcw"},
		{"curl with bearer abc123def456ghi", "abc123def456ghi"},
	},
	"in an address": {
		{"postgres://me:hush@db/x", "hush"},
		{"https://:hush@host/", "hush"},
		{"postgres://user:hu/sh@h", "hu/sh"},
	},
	"numbers of cards": {
		{"credit card 4111 1111 1111 1111", "4111"},
		{"my card is 5555-5555-5555-4444, until 12/30", "5555"},
		{"4111111111111111 0127", "4111"},
		{"Amex 3782 822463 10005", "822463"},
	},
	"the words of a wallet": {
		{"legal winner thank year wave sausage worth useful legal winner thank yellow", "legal"},
		{`these are for the wallet: "Legal winner thank year wave sausage worth useful legal winner thank yellow."`, "sausage"},
		{"seed phrase: legal winner", "winner"},
	},
}

func TestSecretsAreNotRememberedAndNotRepeated(t *testing.T) {
	d := newDesk(t)
	for kind, facts := range secrets {
		t.Run(kind, func(t *testing.T) {
			for _, c := range facts {
				got := d.ask(t, "memory.write", args{"text": c.fact}, nil)
				if !got.isError || !strings.Contains(got.text, "looks like") || !strings.Contains(got.text, "secrets are not remembered") {
					t.Errorf("%q: says %q", c.fact, got.text)
				}
				if strings.Contains(got.text, c.secret) {
					t.Errorf("%q: the refusal repeats it: %q", c.fact, got.text)
				}
			}
		})
	}
}

func TestWhatOnlySpeaksOfSecretsIsRemembered(t *testing.T) {
	d := newDesk(t)
	for kind, facts := range map[string][]string{
		"where they are": {
			"My tokens are kept in pass", "API keys are in Vault", "The password for the wiki is kept in pass",
			"My password manager is pass", "I use a password manager", "Password manager: 1Password",
		},
		"how they are dealt with": {
			"passwords are never to be logged", "The secret is never committed", "passwords are hashed with argon2",
			"Passwords in this project are hashed with argon2", "API keys are rotated monthly", "A password is required.", "The token is optional",
		},
		"other things of that name": {
			"Tokens are counted with tiktoken", "Tokens are cheap", "Pins are soldered by hand", "The LED is on pin 13",
			"I like tokenizers: they are fast", "Tests pass before I commit", "My password has 20 characters",
		},
		"long words that are none": {
			"uses commit 376721b0aa11223344556677889900aabbccddee as base", "pi is " + strings.Repeat("1", 40), "I prefer sk-learn",
			"I call it the-very-long-name-of-a-branch-that-is-mine", "Write dates as 2024-05-06T07:08:09Z",
		},
		"addresses without a password": {
			"My site is https://example.org:8080/x", "packages come from http://localhost:4873/@me/pkg",
		},
		"numbers of no card": {
			"the order 4111 1111 1111 1112", "call +49 170 1234 5678", "the release 20240506070809 is mine",
		},
		"sentences": {
			"Please always write short plain answers with every small step shown before code and never leave tests out",
			"I know python, java, rust, ruby, perl, bash, swift, scala, kotlin, lua, dart, julia, erlang",
		},
	} {
		t.Run(kind, func(t *testing.T) {
			for _, fact := range facts {
				if got := d.ask(t, "memory.write", args{"text": fact}, nil); got.isError {
					t.Errorf("%q: %s", fact, got.text)
				}
			}
		})
	}
}

func TestASecretThatTheUserWroteCanBeRemoved(t *testing.T) {
	d := newDesk(t)
	d.holds(t, "- my password is hunter2\n")
	if got := d.remembers(t, args{"text": "", "replaces": "my password is hunter2"}); got.Change != "removed" {
		t.Errorf("got %+v", got)
	}
}

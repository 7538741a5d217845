package complete

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"replan/agent/session"
)

// settings offers the keys of the settings.
func settings(_ context.Context, s Source) []string {
	words := []string{}
	for _, setting := range s.Settings() {
		words = append(words, strings.TrimSuffix(setting.Key+"\t"+setting.About, "\t"))
	}
	return words
}

// settingAndValue completes the key of a setting, then its value.
func settingAndValue(open Open) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		switch len(args) {
		case 0:
			return offers(open, false, settings)(cmd, args, toComplete)
		case 1:
			return offers(open, false, valuesOf(args[0]))(cmd, args, toComplete)
		default:
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
	}
}

// valuesOf offers the possible values of a setting, if they are few or known.
func valuesOf(key string) choices {
	return func(ctx context.Context, s Source) []string {
		if strings.HasPrefix(key, "model.name") || strings.HasPrefix(key, "planning.") && strings.HasSuffix(key, "_model") {
			return models(ctx, s)
		}
		for _, setting := range s.Settings() {
			if setting.Key == key {
				return possible(setting)
			}
		}
		return nil
	}
}

// possible returns the possible values of a setting, else the one that it has.
func possible(s session.Setting) []string {
	if len(s.Choices) > 0 || s.Value == "" || s.Literal == "" {
		return s.Choices
	}
	return []string{strings.Trim(s.Literal, `"`) + "\tits value now"}
}

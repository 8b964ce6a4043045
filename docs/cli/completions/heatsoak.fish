complete --keep-order --exclusive --command heatsoak --arguments "(COMPLETE=fish heatsoak -- (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token))"

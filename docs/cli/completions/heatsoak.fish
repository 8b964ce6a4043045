# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_heatsoak_global_optspecs
    string join \n h/help V/version
end

function __fish_heatsoak_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_heatsoak_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_heatsoak_using_subcommand
    set -l cmd (__fish_heatsoak_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c heatsoak -n "__fish_heatsoak_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c heatsoak -n "__fish_heatsoak_needs_command" -s V -l version -d 'Print version'
complete -c heatsoak -n "__fish_heatsoak_needs_command" -f -a "list" -d 'Show the drives of this machine and how each can be reached'
complete -c heatsoak -n "__fish_heatsoak_needs_command" -f -a "plans" -d 'Show the built-in plans, or print one as TOML to start from'
complete -c heatsoak -n "__fish_heatsoak_needs_command" -f -a "profiles" -d 'Show the built-in simulated drives, or print the profile of one as TOML'
complete -c heatsoak -n "__fish_heatsoak_needs_command" -f -a "completions" -d 'Print the completions for a shell'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand list" -l json -d 'Print one JSON document'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand list" -s h -l help -d 'Print help'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand list" -s V -l version -d 'Print version'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand plans" -s h -l help -d 'Print help'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand plans" -s V -l version -d 'Print version'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand profiles" -s h -l help -d 'Print help'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand profiles" -s V -l version -d 'Print version'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand completions" -s h -l help -d 'Print help'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand completions" -s V -l version -d 'Print version'

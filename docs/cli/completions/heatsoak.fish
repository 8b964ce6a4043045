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
complete -c heatsoak -n "__fish_heatsoak_needs_command" -f -a "run" -d 'Run an experiment; leaves a run folder with a report in it'
complete -c heatsoak -n "__fish_heatsoak_needs_command" -f -a "analyze" -d 'Say what slowed a drive down, from run folders or logs of other tools'
complete -c heatsoak -n "__fish_heatsoak_needs_command" -f -a "report" -d 'Make the report of a run again, or one of a log'
complete -c heatsoak -n "__fish_heatsoak_needs_command" -f -a "compare" -d 'Show runs against each other'
complete -c heatsoak -n "__fish_heatsoak_needs_command" -f -a "list" -d 'Show the drives of this machine and how each can be reached'
complete -c heatsoak -n "__fish_heatsoak_needs_command" -f -a "plans" -d 'Show the built-in plans, or print one as TOML to start from'
complete -c heatsoak -n "__fish_heatsoak_needs_command" -f -a "profiles" -d 'Show the built-in simulated drives, or print the profile of one as TOML'
complete -c heatsoak -n "__fish_heatsoak_needs_command" -f -a "completions" -d 'Print the completions for a shell'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -s d -l drive -d 'What to run it on; without it the drive that the plan names, else twin:ssd1' -r -F
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -s o -l out -d 'The run folder to make; without it a new one under ./runs/' -r -f -a "(__fish_complete_directories)"
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -l seed -d 'Seed of everything random; the same seed repeats a simulated run byte for byte' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -l tmt1 -d 'Light throttling from this temperature on (TMT1), such as 65C, or off' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -l tmt2 -d 'Heavy throttling from this temperature on (TMT2), such as 70C, or off' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -l stop-at -d 'Stop the load at this composite temperature [default: 5 K below the critical threshold, else 85C]' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -l interval -d 'Length of an accounting interval, such as 100ms' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -l max-errors -d 'Give up after this many I/O errors' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -l json -d 'Print the findings as one JSON document'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -s q -l quiet -d 'No progress on stderr'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -l no-report -d 'Make no report.html'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand analyze" -l json -d 'Print one JSON document: the findings, or {"results": [{"source", "findings"}]} for several inputs'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand analyze" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand report" -s o -l out -d 'Where to write it; without it into the run folder. For one input only; - is stdout' -r -F
complete -c heatsoak -n "__fish_heatsoak_using_subcommand report" -l svg -d 'Make the chart as SVG, for papers, instead of the report as HTML'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand report" -s h -l help -d 'Print help'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand compare" -s o -l out -d 'Also write a page with all runs in one chart' -r -F
complete -c heatsoak -n "__fish_heatsoak_using_subcommand compare" -s h -l help -d 'Print help'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand list" -l json -d 'Print one JSON document'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand list" -s h -l help -d 'Print help'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand plans" -s h -l help -d 'Print help'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand profiles" -s h -l help -d 'Print help'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand completions" -s h -l help -d 'Print help'

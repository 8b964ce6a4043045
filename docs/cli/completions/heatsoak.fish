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
complete -c heatsoak -n "__fish_heatsoak_needs_command" -f -a "compare" -d 'Compare runs load by load'
complete -c heatsoak -n "__fish_heatsoak_needs_command" -f -a "validate" -d 'Reproduce the published experiments on simulated drives, row by row'
complete -c heatsoak -n "__fish_heatsoak_needs_command" -f -a "vssd" -d 'Be a simulated SSD over NVMe/TCP, which an unmodified Linux takes for a real one'
complete -c heatsoak -n "__fish_heatsoak_needs_command" -f -a "list" -d 'Show the drives of this machine and how each can be reached'
complete -c heatsoak -n "__fish_heatsoak_needs_command" -f -a "inspect" -d 'Show everything about a drive that matters for heat, power and speed'
complete -c heatsoak -n "__fish_heatsoak_needs_command" -f -a "hctm" -d 'Show or change the temperatures at which the host has a drive throttle'
complete -c heatsoak -n "__fish_heatsoak_needs_command" -f -a "power-state" -d 'Show the power states of a drive, or change the one it is in'
complete -c heatsoak -n "__fish_heatsoak_needs_command" -f -a "temp-threshold" -d 'Show or change the temperatures at which a drive warns'
complete -c heatsoak -n "__fish_heatsoak_needs_command" -f -a "restore" -d 'Put back the settings that an interrupted run has left changed'
complete -c heatsoak -n "__fish_heatsoak_needs_command" -f -a "plans" -d 'Show the built-in plans, or print one as TOML to start from'
complete -c heatsoak -n "__fish_heatsoak_needs_command" -f -a "profiles" -d 'Show the built-in simulated drives, or print the profile of one as TOML'
complete -c heatsoak -n "__fish_heatsoak_needs_command" -f -a "completions" -d 'Print the completions for a shell'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -s d -l drive -d 'What to run it on; without it the drive that the plan names, else twin:ssd1' -r -F
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -s o -l out -d 'The run folder to make; without it a new one under ./runs/' -r -f -a "(__fish_complete_directories)"
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -l seed -d 'Seed of everything random; the same seed repeats a simulated run byte for byte' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -l tmt1 -d 'Light throttling from this temperature on (TMT1), such as 65C, or off' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -l tmt2 -d 'Heavy throttling from this temperature on (TMT2), such as 70C, or off' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -l sweep -d 'Run the plan once a setting, such as tmt=default,65C/70C, power-state=0,5, link=1GB/s,2GB/s, ambient=20C,35C' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -l ambient -d 'Temperature of the air around the drive, such as 24C: recorded; a simulated drive is put into it' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -l stop-at -d 'Stop the load at this temperature of the drive [default: 5 K below the critical threshold, else 85C]' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -l interval -d 'Length of an accounting interval, such as 100ms' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -l max-errors -d 'Give up after this many I/O errors' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -l destroy -d 'Let a plan write to or trim a block device: the serial number of the drive whose data may all be lost (no-serial for one that tells none)' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -l even-if -d 'Write all the same if there is a WORD on the device, such as file-system or partition-table; repeatable. A refusal names the word; what is mounted or in use is never written to' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -l tbw -d 'Rated endurance of the drive, such as 600TB, to tell what share of it the run costs' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -l slc -d 'Size of the drive\'s fast write cache, such as 64GiB, for plans with a region of that size' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -l json -d 'Print the findings as one JSON document'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -s q -l quiet -d 'No progress on stderr'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -l no-report -d 'Make no report.html'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand analyze" -l offset -d 'Add this to the times of a log or of a folder of logs, such as smart/=+3.5s; may be given more than once' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand analyze" -l format -d 'Take logs for this format instead of telling it by their content' -r -f -a "csv\t''
fio-bw-log\t''
fio-iops-log\t''
fio-lat-log\t''
fio-hist-log\t''
fio-json\t''
iometer\t''
iometer-inst\t''
nvme-json\t''
nvme-text\t''
smartctl-json\t''
prometheus\t''
hwinfo\t''
perfmon\t''
grafana-csv\t''
sysstat\t''
sysstat-json\t''
telegraf\t''
telegraf-json\t''"
complete -c heatsoak -n "__fish_heatsoak_using_subcommand analyze" -l every -d 'How far apart readings are that carry no time, such as 1s' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand analyze" -l device -d 'The drive in question, such as nvme0n1, of a log of several' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand analyze" -l explain -d 'Tell the reasoning behind event N of a run: what was seen, what was weighed and why the cause won; without N, the events there are, or the reasoning behind each where they are few' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand analyze" -l join -d 'Take all inputs for logs of one run and put them on one clock'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand analyze" -l one-drive -d 'Take all inputs for runs of one drive, which logs do not name'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand analyze" -l json -d 'Print one JSON document: the findings, or {"results": [{"source", "findings"}], "joint_policies"} for several inputs; with --explain the reasoning as data'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand analyze" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand report" -s o -l out -d 'Where to write it; without it into the run folder. For one input only; - is stdout' -r -F
complete -c heatsoak -n "__fish_heatsoak_using_subcommand report" -l png -d 'Make the first screen as a PNG to send: phases, cause, evidence and the main chart'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand report" -l svg -d 'Make the first screen as an SVG'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand report" -l chart -d 'Make the main chart alone as an SVG, for papers'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand report" -s h -l help -d 'Print help'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand compare" -s b -l baseline -d 'The run that the others are compared with [default: the first]' -r -F
complete -c heatsoak -n "__fish_heatsoak_using_subcommand compare" -l fail-if -d 'Exit with 1 if a run differs from the baseline by more, such as "write.mean < -5%" or "random read.p99 > 10%"' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand compare" -s o -l out -d 'Also write a page with all runs in one chart' -r -F
complete -c heatsoak -n "__fish_heatsoak_using_subcommand compare" -l one-drive -d 'Take all runs for runs of one drive, which logs do not name'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand validate" -l json -d 'Print one JSON document: {"rows": [{"id", "stated", "reproduced", "tolerance", "holds", ...}]}'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand validate" -s q -l quiet -d 'No progress on stderr'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand validate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand vssd" -l profile -d 'A simulated drive: the name of a built-in profile or a TOML file; may be given more than once' -r -F
complete -c heatsoak -n "__fish_heatsoak_using_subcommand vssd" -l name -d 'Name of the drive: the end of its NQN, from which its serial number follows; with several drives the beginning of their names' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand vssd" -l listen -d 'Where to listen; port 0 is any free one' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand vssd" -l allow-host -d 'Only let the host with this NQN connect; may be given more than once' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand vssd" -l dhchap-secret-file -d 'Only let hosts connect that prove that they know the secret in this file (DH-HMAC-CHAP; a line DHHC-1:..., readable by you alone, as `nvme gen-dhchap-key` makes it)' -r -F
complete -c heatsoak -n "__fish_heatsoak_using_subcommand vssd" -l dhchap-ctrl-secret-file -d 'Prove to hosts that ask for it that the drives know the secret in this file' -r -F
complete -c heatsoak -n "__fish_heatsoak_using_subcommand vssd" -l dhchap-hash -d 'Authenticate with this hash function only (sha256, sha384, sha512); by default what the host likes best' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand vssd" -l dhchap-group -d 'Authenticate with this Diffie-Hellman group only (null, ffdhe2048, 3072, 4096, 6144, 8192); by default what the host likes best, but null' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand vssd" -l hosts -d 'How many hosts may be connected to a drive at once' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand vssd" -l time-scale -d 'Let the drive live N times faster' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand vssd" -l bandwidth-scale -d 'Let each byte count as N' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand vssd" -l size -d 'Size of each drive as hosts see it, instead of the profile\'s' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand vssd" -l memory -d 'Most memory that the data of each drive may take' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand vssd" -l backing -d 'Keep the data in this sparse file, a new one or one that heatsoak made; with several drives in this folder' -r -F
complete -c heatsoak -n "__fish_heatsoak_using_subcommand vssd" -l state -d 'Keep name, saved settings and counters in this file over restarts; with several drives in this folder' -r -F
complete -c heatsoak -n "__fish_heatsoak_using_subcommand vssd" -l control -d 'Take changes of the surroundings and faults at this Unix socket' -r -F
complete -c heatsoak -n "__fish_heatsoak_using_subcommand vssd" -l seed -d 'Seed of everything random in the drives' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand vssd" -l shelf -d 'One of each built-in profile'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand vssd" -l allow-network -d 'Listen on an address that other machines reach, although nothing is encrypted'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand vssd" -l multipath -d 'Say that the drive may be shared; Linux makes a multipath device of it then'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand vssd" -l overwrite -d 'Use the file of --backing although heatsoak did not make it: hosts may overwrite all of it'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand vssd" -l json -d 'Print one line of JSON instead of text'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand vssd" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand list" -l json -d 'Print one JSON document'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand list" -s h -l help -d 'Print help'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand inspect" -l json -d 'Print one JSON document'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand inspect" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand hctm" -l tmt1 -d 'Light throttling from this temperature on (TMT1), such as 65C, or off' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand hctm" -l tmt2 -d 'Heavy throttling from this temperature on (TMT2), such as 70C, or off' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand hctm" -l save -d 'Keep the change over power cycles'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand hctm" -l json -d 'Print one JSON document'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand hctm" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand power-state" -l save -d 'Keep the change over power cycles'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand power-state" -l json -d 'Print one JSON document'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand power-state" -s h -l help -d 'Print help'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand temp-threshold" -l sensor -d 'Temperature sensor 1 to 8; without it the composite temperature' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand temp-threshold" -l over -d 'Warn at this temperature and above, such as 75C, or off' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand temp-threshold" -l under -d 'Warn at this temperature and below, such as 0C, or off' -r
complete -c heatsoak -n "__fish_heatsoak_using_subcommand temp-threshold" -l save -d 'Keep the change over power cycles'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand temp-threshold" -l json -d 'Print one JSON document'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand temp-threshold" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand restore" -l forget -d 'Put nothing back and remove the journal: after a power cycle the drive has its saved settings'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand restore" -l json -d 'Print one JSON document'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand plans" -s h -l help -d 'Print help'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand profiles" -s h -l help -d 'Print help'
complete -c heatsoak -n "__fish_heatsoak_using_subcommand completions" -s h -l help -d 'Print help'

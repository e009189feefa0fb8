# SPDX-License-Identifier: Apache-2.0
# Completion of coretap in fish. The command itself says what can stand next.
function __coretap_complete
    set -l words (commandline -opc)
    set -l token (commandline -ct)
    set -l option (string match -r -- '^--[^=]*=' "$token")
    set -l begin (string replace -- "$option" '' "$token")
    for line in ($words[1] --complete $words[2..-1] "$token" 2>/dev/null)
        switch $line
            case :files
                printf '%s\n' "$option"(__fish_complete_path "$begin")
            case :folders
                printf '%s\n' "$option"(__fish_complete_directories "$begin")
            case :commands
                printf '%s\n' (complete -C "$begin")
            case '*'
                printf '%s\n' "$option$line"
        end
    end
end
complete -c coretap -f -a '(__coretap_complete)'

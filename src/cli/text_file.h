/* Text files that the command line names. */
#ifndef CT_CLI_TEXT_FILE_H
#define CT_CLI_TEXT_FILE_H

/* The whole file with a NUL behind it, to be freed. NULL: said why. */
char *cli_read_text(const char *path);

#endif

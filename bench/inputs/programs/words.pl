# SPDX-License-Identifier: Apache-2.0
my (%count, %after, $last);
open(my $in, '<', $ARGV[0]) or die;
while (my $line = <$in>) {
    $line =~ s/#.*$//;
    while ($line =~ /\b([A-Za-z_][A-Za-z_0-9]*)\b/g) {
        $count{lc $1}++;
        $after{"$last $1"}++ if defined $last;
        $last = $1;
    }
    $count{$1} += length $2 if $line =~ /^\s*(\w+)\s*=\s*(.+?)\s*$/;
}
my @most = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
print join(' ', map { "$_=$count{$_}" } @most[0 .. 20]), "\n";

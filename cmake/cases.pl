#!/usr/bin/perl
# Reads the list of cases that a gtest program prints, and writes the commands that add them to
# ctest. Its settings are variables of the environment: those of discover.cmake, which starts it.
use strict;
use warnings;

my %given = %ENV;
my @rules = map { /^(.*)=([^=]*)$/s ? [qr/$1/, $2] : () } split /;/, $given{rules};
my %pattern = map { $_ => qr/$given{$_}/ } grep { $given{$_} ne '' } qw(busy long alone together);

sub quoted { return join ' ', map { "[==[$_]==]" } @_ }

# What follows a '-' in a filter is left out, and a '?' stands for any character.
sub filter_of { return '--gtest_filter=' . join(':', @_) =~ tr/-/?/r }

# A filter that matches nothing is a failure.
my $of_each = 'FAIL_REGULAR_EXPRESSION ' . quoted('\] 0 tests from 0 test suites ran');

sub add {
  my ($test, $labels, $arguments, @properties) = @_;
  print 'add_test(', quoted("$given{folder}.$test", $given{program}, @$arguments), ")\n";
  print 'set_tests_properties(', quoted("$given{folder}.$test"), ' PROPERTIES LABELS ',
    quoted(join ';', @$labels), ' ENVIRONMENT ', quoted($given{environment}),
    ' WORKING_DIRECTORY ', quoted($given{directory}), " $of_each @properties)\n";
}

sub without_copies {
  my %seen;
  return grep { !$seen{$_}++ } @_;
}

# A parameter without a name of its own is listed as a number with its value in a comment.
sub shown {
  my ($name, $comment) = @_;
  return $name unless $name =~ m{^(.*/)[0-9]+([.]?)$};
  my ($front, $dot) = ($1, $2);
  return $name unless $comment =~ m{^(?:GetParam\(\)|TypeParam) = "?([-A-Za-z0-9_:/]+)"?$};
  return "$front$1$dot";
}

my ($suite, $shown_suite, $has_cases, @groups, %cases_of, %labels_of);
while (my $line = <STDIN>) {
  next unless $line =~ /^( *)([^ \n]+)(?: +# (.*))?$/;
  my ($indent, $name, $shown) = ($1, $2, shown($2, $3 // ''));
  if ($indent eq '') {
    ($suite, $shown_suite) = ($name, $shown) if $name =~ /[.]$/;
    next;
  }
  $has_cases = 1;
  my $case = $shown_suite . $shown;
  my @labels = without_copies(split(/;/, $given{labels}),
    map { $case =~ $_->[0] ? $_->[1] : () } @rules);
  if ($pattern{together} && $case =~ $pattern{together}) {
    my $group = $shown_suite . $1;
    $group =~ s/[.]$//;
    push @groups, $group unless $cases_of{$group};
    push @{$cases_of{$group}}, $suite . $name;
    push @{$labels_of{$group}}, @labels;
    next;
  }
  my @properties = ("TIMEOUT $given{timeout} COST $given{cost} SKIP_REGULAR_EXPRESSION",
    quoted('\[  SKIPPED \]'));
  push @properties, $given{of_busy} if $pattern{busy} && $case =~ $pattern{busy};
  push @properties, $given{of_long} if $pattern{long} && $case =~ $pattern{long};
  push @properties, 'RUN_SERIAL TRUE' if $pattern{alone} && $case =~ $pattern{alone};
  push @properties, 'FIXTURES_REQUIRED ' . quoted($given{fixture}) if $given{fixture} ne '';
  add($case, \@labels, [filter_of($suite . $name), '--gtest_also_run_disabled_tests',
    '--gtest_brief=0'], @properties);
}
die "it has no test cases\n" unless $has_cases;

# Cases that one process plays.
for my $group (@groups) {
  add($group, [without_copies(@{$labels_of{$group}})],
    [filter_of(@{$cases_of{$group}}), '--gtest_brief=0'],
    'TIMEOUT 600 SKIP_REGULAR_EXPRESSION "\nskipped: "', $given{of_long});
}

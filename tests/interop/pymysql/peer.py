"""Named locks and row locks taken by hand with PyMySQL, one command a line: PORT.
Answers each line with one.

named NAME SECONDS     GET_LOCK of holdfast's name for that lock: ok | busy
free NAME              RELEASE_LOCK: ok | not ours
row NAME nowait|wait   begins a transaction with SELECT ... FOR UPDATE: ok | busy
commit                 ends it: ok
count KIND NAME TIMES  takes the lock TIMES times and adds one to a counter in two steps: ok
"""
import sys

import pymysql


def main():
    db = pymysql.connect(host="127.0.0.1", port=int(sys.argv[1]), user="holdfast",
                         password="secret", database="test", autocommit=False)
    cursor = db.cursor()

    def one(statement, *values):
        cursor.execute(statement, values)
        row = cursor.fetchone()
        return row and row[0]

    def hashed(name):
        return "SHA2('holdfast:test/" + name + "', 256)"

    def named(name, seconds):
        got = one("SELECT GET_LOCK(" + hashed(name) + ", " + seconds + ")")
        return "ok" if got == 1 else "busy"

    def free(name):
        return "ok" if one("SELECT RELEASE_LOCK(" + hashed(name) + ")") == 1 else "not ours"

    def row(name, how):
        db.begin()
        try:
            found = one("SELECT 1 FROM holdfast_row_locks WHERE name=%s FOR UPDATE"
                        + (" NOWAIT" if how == "nowait" else ""), name)
        except pymysql.err.OperationalError as error:
            db.rollback()
            return "busy" if error.args[0] == 1205 else "error %d" % error.args[0]
        return "ok" if found == 1 else "no row"

    def commit():
        db.commit()
        return "ok"

    def count(kind, name, times):
        counter = pymysql.connect(host="127.0.0.1", port=int(sys.argv[1]), user="holdfast",
                                  password="secret", database="test", autocommit=True)
        at = counter.cursor()
        for _ in range(int(times)):
            if (named(name, "60") if kind == "named" else row(name, "wait")) != "ok":
                return "busy"
            at.execute("SELECT n FROM counter")
            at.execute("UPDATE counter SET n=%s", (at.fetchone()[0] + 1,))
            free(name) if kind == "named" else commit()
        return "ok"

    verbs = {"named": named, "free": free, "row": row, "commit": commit, "count": count}
    for line in iter(sys.stdin.readline, ""):
        verb, *words = line.split()
        print(verbs[verb](*words), flush=True)


main()

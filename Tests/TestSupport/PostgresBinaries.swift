import Foundation

/// Where PostgreSQL's server programs are.
struct PostgresBinaries {
    let directory: String

    var initdb: String { directory + "/initdb" }
    var server: String { directory + "/postgres" }
    var control: String { directory + "/pg_ctl" }
    var dump: String { directory + "/pg_dump" }
    var dumpAll: String { directory + "/pg_dumpall" }
    var restore: String { directory + "/pg_restore" }
    var shell: String { directory + "/psql" }

    /// Looks where `pg_config --bindir` says, then in Debian's folders (newest version first), then in PATH.
    static func find() throws -> PostgresBinaries {
        var candidates: [String] = []
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":").map(
            String.init)
        if let config = path.map({ $0 + "/pg_config" }).first(where: FileManager.default.isExecutableFile),
            let output = try? Command.run([config, "--bindir"])
        {
            candidates.append(output.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        let debian = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: debian)) ?? []
        candidates += versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "\(debian)/\($0)/bin" }
        candidates += path + ["/opt/homebrew/bin", "/usr/local/pgsql/bin"]
        for directory in candidates {
            let binaries = PostgresBinaries(directory: directory)
            let needed = [binaries.initdb, binaries.server, binaries.control]
            if needed.allSatisfy(FileManager.default.isExecutableFile) { return binaries }
        }
        throw TestClusterError(
            """
            PostgreSQL's server programs (initdb, postgres, pg_ctl) were not found. Install them: on Debian or Ubuntu \
            `apt-get install postgresql libpq-dev`, on macOS `brew install postgresql`. Looked in: \
            \(candidates.joined(separator: ", "))
            """)
    }
}

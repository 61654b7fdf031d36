import Foundation

/// PostgreSQL refuses to run as root, so then its programs run as another user.
struct ServerUser {
    /// Prepended to every command line; empty if the tests don't run as root.
    let prefix: [String]
    /// The owner of the cluster's folder; `nil` means the current user.
    let owner: (user: uid_t, group: gid_t)?

    static func current() throws -> ServerUser {
        guard geteuid() == 0 else { return ServerUser(prefix: [], owner: nil) }
        guard let entry = getpwnam("postgres") else {
            throw TestClusterError(
                "the tests run as root, PostgreSQL does not, and there is no user `postgres`: "
                    + "install the package `postgresql`, or run the tests as another user")
        }
        let owner = (user: entry.pointee.pw_uid, group: entry.pointee.pw_gid)
        let tools = ["/usr/sbin/runuser", "/sbin/runuser", "/usr/bin/runuser"]
        if let runuser = tools.first(where: FileManager.default.isExecutableFile) {
            return ServerUser(prefix: [runuser, "-u", "postgres", "--"], owner: owner)
        }
        let setpriv = "/usr/bin/setpriv"
        guard FileManager.default.isExecutableFile(atPath: setpriv) else {
            throw TestClusterError(
                "the tests run as root and found neither runuser nor setpriv: install the package `util-linux`")
        }
        return ServerUser(
            prefix: [setpriv, "--reuid=\(owner.user)", "--regid=\(owner.group)", "--clear-groups"], owner: owner)
    }

    /// A new folder that this user can access. Its path is short, because a Unix socket's path is limited to about 100 bytes.
    func makeFolder() throws -> String {
        for parent in [NSTemporaryDirectory(), "/tmp"] {
            var path = parent.hasSuffix("/") ? parent : parent + "/"
            path += "tc-" + UUID().uuidString.prefix(8).lowercased()
            guard path.utf8.count < 70, mkdir(path, 0o700) == 0 else { continue }
            if let owner, chown(path, owner.user, owner.group) != 0 {
                rmdir(path)
                continue
            }
            if prefix.isEmpty || (try? Command.run(prefix + ["/usr/bin/test", "-w", path])) != nil { return path }
            rmdir(path)
        }
        throw TestClusterError(
            "no folder for a PostgreSQL cluster: neither \(NSTemporaryDirectory()) nor /tmp can be entered by the "
                + "server's user; set TMPDIR to a folder that everybody may enter")
    }
}

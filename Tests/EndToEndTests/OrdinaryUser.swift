import ChildPrograms
import Foundation

/// Runs programs as an ordinary user would. If the tests run as root, the programs run without root's privileges
/// (capabilities(7)), so that operations reserved for root fail here too. Files stay accessible, since they belong to
/// root.
enum OrdinaryUser {
    private static let setpriv = URL(fileURLWithPath: "/usr/bin/setpriv")
    private static let options = ["--bounding-set=-all,+dac_override,+dac_read_search", "--inh-caps=-all", "--"]

    /// The command to run instead of a program: `setpriv`, which then becomes the program with the same process ID.
    static func command(_ program: URL, _ arguments: [String]) async -> (program: URL, arguments: [String]) {
        guard await canDrop.value else { return (program, arguments) }
        return (setpriv, options + [program.path()] + arguments)
    }

    private static let canDrop = Task { () -> Bool in
        guard geteuid() == 0 else { return false }
        let outcome = try? await ProgramRun(setpriv, options + ["true"]).outcome()
        return outcome?.status == 0
    }
}

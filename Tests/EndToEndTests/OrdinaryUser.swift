import ChildPrograms
import Foundation

/// Runs programs as an ordinary user would: where the tests run as root, without root's privileges (capabilities(7)),
/// so that what only root may do fails here too. Files stay accessible, since they are root's.
enum OrdinaryUser {
    private static let setpriv = URL(fileURLWithPath: "/usr/bin/setpriv")
    private static let options = ["--bounding-set=-all,+dac_override,+dac_read_search", "--inh-caps=-all", "--"]

    /// What to run instead of a program: `setpriv` becomes the program, under the same process number.
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

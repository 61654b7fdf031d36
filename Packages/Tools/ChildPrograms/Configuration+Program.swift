import Foundation
import Subprocess

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

extension Configuration {
    /// - Parameters:
    ///   - environment: added to this process's environment.
    ///   - folder: the working directory, or nil for this process's.
    init(_ program: URL, _ arguments: [String], _ environment: [String: String], in folder: URL? = nil) {
        var variables: [Environment.Key: String?] = [:]
        for (name, value) in environment { variables[Environment.Key(stringLiteral: name)] = value }
        self.init(
            executable: .path(FilePath(program.path())), arguments: Arguments(arguments),
            environment: .inherit.updating(variables), workingDirectory: folder.map { FilePath($0.path()) })
    }
}

extension TerminationStatus {
    /// The exit status, or minus the number of the signal that ended the program.
    var number: Int32 {
        switch self {
        case .exited(let code): code
        case .signaled(let signal): -signal
        }
    }
}

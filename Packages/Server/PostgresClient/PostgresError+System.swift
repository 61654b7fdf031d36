import Foundation

extension PostgresError {
    /// The error of a system call that just failed and set `errno`.
    init(system call: String) {
        self.init(
            code: .insufficientResources, message: "\(call) failed: \(String(cString: strerror(errno)))",
            hint: "Raise the limit of open files (ulimit -n) or use fewer connections.")
    }
}

import Foundation

extension PostgresError {
    /// A call of the system that just failed, which sets `errno`.
    init(system call: String) {
        self.init(
            code: .insufficientResources, message: "\(call) failed: \(String(cString: strerror(errno)))",
            hint: "Raise the limit of open files (ulimit -n) or use fewer connections.")
    }
}

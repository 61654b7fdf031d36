import AdminServing

/// `admin-server`, with nothing of an app's own.
@main
struct AdminServerMain: AdminServerProgram {
    static let name = "admin-server"
}

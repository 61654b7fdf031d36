import Foundation
import Synchronization
import Testing

@testable import Tombolo

/// An app's users on the device. Nothing listens at the gateway's address.
@Suite("An app's users", .timeLimit(.minutes(15)))
struct AppUserTests {
    private let folder: TemporaryFolder
    private let configuration: AppConfiguration
    private let app: App

    init() throws {
        folder = try TemporaryFolder()
        configuration = AppConfiguration(
            baseURL: "http://127.0.0.1:0", defaultRequestTimeoutMS: 1_000, rootDirectory: folder.url)
        app = App(id: "tests", configuration: configuration)
    }

    private func logIn(refreshToken: String) throws -> User {
        let login = GatewayClient.Login(
            accessToken: "token", expiresAt: .distantFuture, refreshToken: refreshToken, userID: "ada")
        return try app.users.add(login, "local-userpass", account: nil, app: app)
    }

    /// The file that stores the users.
    private func usersFile() throws -> URL {
        let path = try #require(
            FileManager.default.enumerator(atPath: store.folder.path)?.compactMap { $0 as? String }
                .first { $0.hasSuffix(".json") })
        return store.folder.appending(path: path)
    }

    /// The app after the process has started again.
    private func relaunched() -> App {
        App("tests", configuration, AppUsers(UserStore(appID: "tests", configuration: configuration)))
    }

    private var store: UserStore { UserStore(appID: "tests", configuration: configuration) }

    @discardableResult
    private func logIn(_ id: String, app: App? = nil) async throws -> User {
        let claims = Data(#"{"sub":"\#(id)"}"#.utf8).base64EncodedString().replacing("=", with: "")
        return try await (app ?? self.app).login(credentials: .accessToken("e30.\(claims).secret"))
    }

    @Test("A token with an empty subject, which would make the user's folder the app's, is refused")
    func emptySubject() async throws {
        let error = await #expect(throws: AppError.self) { try await logIn("") }
        #expect(error?.code == .badRequest)
        #expect(app.allUsers.isEmpty)
    }

    @Test("A document with a number that JSON can't represent is refused before it's sent")
    func impossibleNumber() async throws {
        for number in [Double.nan, .infinity] {
            let error = await #expect(throws: AppError.self) {
                try await app.login(credentials: .function(payload: ["number": .double(number)]))
            }
            #expect(error?.code == .badRequest)
        }
    }

    @Test("Dates in documents keep their milliseconds")
    func documentDates() throws {
        let dates: [AnyBSON] = [1.5, 2].map { .datetime(Date(timeIntervalSince1970: $0)) }
        let text = String(decoding: try JSONEncoder().encode(dates), as: UTF8.self)
        #expect(text == #"["1970-01-01T00:00:01.500Z","1970-01-01T00:00:02Z"]"#)
    }

    @Test("Users, their tokens and the current user survive a relaunch")
    func relaunch() async throws {
        #expect(app.currentUser == nil)
        try await logIn("ada")
        let grace = try await logIn("grace")
        #expect(app.currentUser === grace)
        let next = relaunched()
        #expect(next.currentUser?.id == "grace")
        #expect(Set(next.allUsers.keys) == ["ada", "grace"])
        #expect(next.currentUser?.accessToken == grace.accessToken)
        #expect(next.currentUser?.isLoggedIn == true)
        #expect(next.allUsers["ada"] === next.allUsers["ada"])
    }

    @Test("Apps with the same ID and configuration share their users; others don't")
    func sharing() async throws {
        let ada = try await logIn("ada")
        #expect(App(id: "tests", configuration: configuration).currentUser === ada)
        #expect(App(id: "others", configuration: configuration).currentUser == nil)
        var elsewhere = configuration
        elsewhere.baseURL = "http://127.0.0.2:0"
        #expect(App(id: "tests", configuration: elsewhere).currentUser == nil)
    }

    @Test("Logging out makes the first other logged-in user current, and logging out again does nothing")
    func logOut() async throws {
        let ada = try await logIn("ada")
        let grace = try await logIn("grace")
        try await grace.logOut()
        #expect(grace.state == .loggedOut)
        #expect(grace.accessToken == nil)
        #expect(app.currentUser === ada)
        #expect(app.allUsers.count == 2)
        try await grace.logOut()
        app.switch(to: ada)
        try await ada.logOut()
        #expect(app.currentUser == nil)
        #expect(relaunched().currentUser == nil)
        #expect(relaunched().allUsers["ada"]?.state == .loggedOut)
        #expect(try await logIn("grace") === grace)
        #expect(grace.isLoggedIn)
    }

    @Test("A refused refresh token doesn't log out a user who has another one by now")
    func refusedToken() throws {
        let ada = try logIn(refreshToken: "first")
        _ = try logIn(refreshToken: "second")
        #expect(try app.users.logOut(ada.id, ifHolding: "first") == nil)
        #expect(ada.isLoggedIn)
        #expect(ada.refreshToken == "second")
        #expect(try app.users.logOut(ada.id, ifHolding: "second") == "second")
        #expect(ada.state == .loggedOut)
    }

    @Test("New tokens that can't be saved are used anyway, and saved with the next change")
    func unsavedTokens() throws {
        let ada = try logIn(refreshToken: "first")
        let file = try usersFile()
        let aside = folder.url.appending(path: "aside")
        try FileManager.default.moveItem(at: file, to: aside)
        // A file can't replace a folder, so saving fails.
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        try app.users.take(
            GatewayClient.Login(
                accessToken: "new", expiresAt: .distantFuture, refreshToken: "second", userID: "ada"),
            userID: "ada")
        #expect(ada.accessToken == "new" && ada.refreshToken == "second")

        try FileManager.default.removeItem(at: file)
        try FileManager.default.moveItem(at: aside, to: file)
        #expect(!app.users.takeFromDisk(userID: "ada"), "The server has replaced the token in the file.")
        #expect(ada.refreshToken == "second")
        try app.users.makeCurrent(ada)
        #expect(ada.refreshToken == "second")
        #expect(relaunched().currentUser?.refreshToken == "second")
    }

    @Test("logOut with a completion handler has logged the user out when it returns")
    func logOutWithCompletion() async throws {
        let ada = try await logIn("ada")
        let error: (any Error)? = await withCheckedContinuation { continuation in
            ada.logOut { continuation.resume(returning: $0) }
            #expect(app.currentUser == nil)
        }
        #expect(error == nil)
    }

    @Test("An anonymous user who logs out is removed, since no one could log in as them again")
    func anonymous() async throws {
        let login = GatewayClient.Login(
            accessToken: "token", expiresAt: .distantFuture, refreshToken: nil, userID: "guest")
        let guest = try app.users.add(login, "anon-user", account: nil, app: app)
        #expect(try await app.login(credentials: .anonymous) === guest)
        try await guest.logOut()
        #expect(guest.state == .removed)
        #expect(app.allUsers.isEmpty)
    }

    @Test("A removed user's files are deleted at the next launch, unless they log in again before")
    func remove() async throws {
        let ada = try await logIn("ada")
        let file = store.folder(ofUser: "ada").appending(path: "flexible.realm")
        #expect(ada.flexibleSyncConfiguration().fileURL == file)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("rows".utf8).write(to: file)
        try await ada.remove()
        #expect(ada.state == .removed)
        await #expect(throws: AppError.self) { try await ada.remove() }
        #expect(FileManager.default.fileExists(atPath: file.path))
        let again = try await logIn("ada")
        #expect(again !== ada)
        _ = relaunched()
        #expect(FileManager.default.fileExists(atPath: file.path))
        try await again.remove()
        _ = relaunched()
        #expect(!FileManager.default.fileExists(atPath: file.path))
        #expect(store.load()?.removed == [])
    }

    @Test("A deleted account's files that couldn't be deleted are deleted at the next launch")
    func deleteFiles() async throws {
        try await logIn("ada")
        let files = store.folder(ofUser: "ada")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        try app.users.remove("ada")
        try app.users.deleteFiles(of: "ada") { _ in throw CocoaError(.fileWriteNoPermission) }
        #expect(store.load()?.removed == ["ada"])
        #expect(FileManager.default.fileExists(atPath: files.path))
        _ = relaunched()
        #expect(store.load()?.removed == [])
        #expect(!FileManager.default.fileExists(atPath: files.path))
    }

    @Test("Changes made by another process of the app aren't overwritten")
    func otherProcess() async throws {
        let ada = try await logIn("ada")
        let other = relaunched()
        try await logIn("grace", app: other)
        try app.users.makeCurrent(ada)
        #expect(Set(relaunched().allUsers.keys) == ["ada", "grace"])
        #expect(Set(app.allUsers.keys) == ["ada", "grace"])
        #expect(relaunched().currentUser?.id == "ada")
    }

    @Test("Processes that change the users at the same time don't lose each other's changes")
    func simultaneousProcesses() throws {
        let (processes, changes) = (6, 10)
        let configuration = configuration
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: processes) { process in
            let store = UserStore(appID: "tests", configuration: configuration, lockPatience: .seconds(3_600))
            let app = App("tests", configuration, AppUsers(store))
            for change in 0..<changes {
                let login = GatewayClient.Login(
                    accessToken: "token", expiresAt: .distantFuture, refreshToken: nil, userID: "\(process)-\(change)")
                do {
                    _ = try app.users.add(login, "local-userpass", account: nil, app: app)
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(failures.withLock { $0 } == [])
        let expected = (0..<processes).flatMap { process in (0..<changes).map { "\(process)-\($0)" } }
        #expect(Set(store.load()?.users.map(\.id) ?? []) == Set(expected))
    }

    @Test("A process suspended while it changes the users doesn't stop others from logging users in")
    func stoppedProcess() async throws {
        let impatient = UserStore(appID: "tests", configuration: configuration, lockPatience: .zero)
        let app = App("tests", configuration, AppUsers(impatient))
        let login = GatewayClient.Login(
            accessToken: "token", expiresAt: .distantFuture, refreshToken: nil, userID: "ada")
        try store.exclusively { _ = try app.users.add(login, "local-userpass", account: nil, app: app) }
        #expect(relaunched().currentUser?.id == "ada")
    }

    @Test("Users' files left by killed processes are deleted at the next launch, but not those others may be writing")
    func drafts() async throws {
        try await logIn("ada")
        let file = try usersFile()
        let manager = FileManager.default
        func draft(_ age: TimeInterval, _ name: String = UUID().uuidString) throws -> String {
            let path = store.folder.appending(path: ".\(file.lastPathComponent)-\(name)").path
            #expect(manager.createFile(atPath: path, contents: Data("tokens".utf8)))
            try manager.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: path)
            return path
        }
        let left = try draft(3_600)
        let others = [try draft(-3_600), try draft(3_600, "notes")]
        #expect(relaunched().currentUser?.id == "ada")
        #expect(!manager.fileExists(atPath: left))
        #expect(others.allSatisfy(manager.fileExists))
    }

    @Test("Only the file's owner can read the tokens, and a damaged file logs all users out")
    func file() async throws {
        try await logIn("ada")
        let file = try usersFile()
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try Data("{\"users\": [".utf8).write(to: file)
        #expect(relaunched().allUsers.isEmpty)
        try await logIn("grace", app: relaunched())
        #expect(relaunched().currentUser?.id == "grace")
    }

    @Test(
        "IDs with any characters get their own folders inside the app's",
        arguments: ["../up", "a/b", "..", ".", "é %"])
    func folders(id: String) {
        let user = store.folder(ofUser: id)
        #expect(user.deletingLastPathComponent().standardizedFileURL.path == store.folder.standardizedFileURL.path)
        #expect(!["..", "."].contains(user.lastPathComponent))
    }

    @Test("A login that gets no answer says so and changes nothing")
    func unreachable() async throws {
        let error = await #expect(throws: AppError.self) {
            try await app.login(credentials: .emailPassword(email: "a@example.org", password: "secret phrase"))
        }
        #expect(error?.code == .httpRequestFailed)
        #expect(error?.message.contains("secret phrase") == false)
        #expect(app.currentUser == nil)
    }
}

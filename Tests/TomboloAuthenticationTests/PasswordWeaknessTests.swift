import Testing

@testable import TomboloAuthentication

@Suite struct PasswordWeaknessTests {
    private let ann = PasswordOwner(email: "ann@example.org", name: "Ann Lee")

    @Test(
        "very common passwords are refused, however they are written",
        arguments: [
            "password", "Password1!", "P@ssw0rd", "p@$$w0rd99", "12345678", "qwertyuiop", "I love you!!", "welcome2027",
            "!dragon!", "tombolo123", "monkey-12345", "Passwort2027", "passwordpassword", "letmein!",
        ])
    func common(password: String) {
        #expect(PasswordWeakness.of(password, owner: ann) == .common)
    }

    @Test(
        "the owner's address or name is refused if hardly anything is added to it",
        arguments: ["ann@example.org", "ANN@EXAMPLE.ORG!", "ann12345", "Ann.Lee.1999", "leeann-annlee", "ann-ann-ann"])
    func ownName(password: String) {
        #expect(PasswordWeakness.of(password, owner: ann) == .owner)
        #expect(PasswordWeakness.of(password, owner: PasswordOwner(email: "bob@example.com")) != .owner)
    }

    @Test(
        "a run of characters counts as little as one character",
        arguments: ["aaaaaaab", "23456789", "fedcba98", "wertzuio", "hijk5678!", "bbbbbb111111", "zzzz-8765"])
    func series(password: String) {
        #expect(PasswordWeakness.of(password, owner: ann) == .series)
    }

    @Test(
        "a few characters over and over are refused", arguments: ["19801980", "horsehorse", "x?x?x?x?x", "Tea4Tea4Te"])
    func repetition(password: String) {
        #expect(PasswordWeakness.of(password, owner: ann) == .repetition)
    }

    @Test(
        "other passwords are accepted, without requiring certain kinds of characters",
        arguments: [
            ("correct horse", "ann@example.org", "Ann"), ("battery staple", "x@example.org", "X"),
            ("abracadabra", "ann@example.org", "Ann"), ("$%&/()=?", "ann@example.org", "Ann"),
            ("annapurna peak", "ann@example.org", "Ann"), ("everyone1x", "ann@example.org", "Ann"),
            ("анна и верблюд", "ann@example.org", "Анна"), ("正しい馬の電池の", "ann@example.org", "安"),
            ("organizer-demo", "organizer@example.org", "Olga Organizer"),
            ("attendee-demo", "attendee@example.org", "Ahmed Attendee"),
            ("administrator-demo", "admin@example.org", "Ada Administrator"),
            ("superadmin-demo", "super@example.org", "Susan Super"),
            ("event-owner-demo", "owner@example.org", "Otto Owner"),
            ("correct horse battery", "attendee@example.org", "The attendee"),
        ])
    func good(password: String, email: String, name: String) {
        #expect(PasswordWeakness.of(password, owner: PasswordOwner(email: email, name: name)) == nil)
    }

    @Test("the list is stored in the form that passwords are compared with")
    func list() {
        #expect(CommonPasswords.all.count > 1_000)
        for word in CommonPasswords.all {
            #expect(word == word.lowercased() && word.allSatisfy { $0.isLetter || $0.isNumber }, "\(word)")
        }
    }

    @Test("a refusal says what is wrong and what to do", arguments: PasswordWeakness.allCases)
    func texts(weakness: PasswordWeakness) {
        let text = AuthenticationError.invalidPassword(reason: weakness.reason).description
        #expect(text.hasPrefix("This password cannot be used: it ") && text.contains("four unrelated words"), "\(text)")
    }

    @Test("weak passwords are refused wherever one is set: by tools and by users who already have one")
    func everywhere() async throws {
        try await AccountPlace.with { place in
            let registry = AccountRegistry(pool: place.pool, hasher: PasswordHasher(parameters: .weakForTests))
            try await place.register()
            let login = try await place.login()
            let caller = Caller(userID: login.userID, sessionID: login.sessionID)
            let token = try await place.authenticator.beginPanel(
                email: AccountPlace.email, password: AccountPlace.password, address: "", device: LoginDevice())
            let session = try await place.authenticator.panelSession(token)
            try await place.switchOn("anon-user")
            try await place.switchOn("local-userpass", #"{"registration": true, "confirmation": "none"}"#)
            let anonymous = try await place.authenticator.login(.anonymous)
            for (weak, weakness) in [
                ("qwerty123", PasswordWeakness.common), ("ann-2027!", .owner), ("hijk5678!", .series),
            ] {
                let refusal = AuthenticationError.invalidPassword(reason: weakness.reason)
                await #expect(throws: refusal) { try await registry.setPassword(weak, email: AccountPlace.email) }
                await #expect(throws: refusal) {
                    try await registry.register(email: "ann@example.com", password: weak, displayName: "Ann")
                }
                await #expect(throws: refusal) {
                    try await place.authenticator.changePassword(of: caller, from: AccountPlace.password, to: weak)
                }
                await #expect(throws: refusal) {
                    try await place.authenticator.changePassword(
                        in: session, from: AccountPlace.password, to: weak, address: "")
                }
                await #expect(throws: refusal) {
                    try await place.authenticator.link(
                        .emailPassword(email: "ann@example.net", password: weak), to: anonymous.userID, address: "")
                }
            }
            _ = try await place.login()
        }
    }
}

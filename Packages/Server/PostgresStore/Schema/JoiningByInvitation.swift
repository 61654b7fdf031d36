/// How the admin server creates an account for an invited person, with the password that they chose.
enum JoiningByInvitation {
    static let function = SystemFunction(
        name: "join_by_invitation",
        parameters:
            "p_invitation bytea, p_hash bytea, p_user bytea, p_name text, p_rounds bigint, p_block_size bigint, "
            + "p_parallelism bigint, p_salt bytea, p_key bytea",
        result: "boolean",
        body: """

            -- Makes the account of the address that was invited, with a password; false for a token that is none, or for
            -- an invitation that is over. An address that has an account breaks the rule of uniqueness.
            DECLARE
                v_email text;
            BEGIN
                SELECT i.email INTO v_email FROM tombolo.invitation i
                WHERE i.id = p_invitation AND i.token_hash = p_hash AND i.accepted_at IS NULL AND i.revoked_at IS NULL
                FOR UPDATE;
                IF NOT FOUND THEN
                    RETURN false;
                END IF;
                INSERT INTO tombolo.account (id, email, display_name) VALUES (p_user, v_email, p_name);
                INSERT INTO tombolo.credential (user_id, algorithm, rounds, block_size, parallelism, salt, key, is_unused)
                VALUES (p_user, 'scrypt', p_rounds, p_block_size, p_parallelism, p_salt, p_key, false);
                RETURN true;
            END
            """)
}
